// SPDX-License-Identifier: MIT
//
// Things by id and by name, in the order in which they were made. A page begins at a number that is never given twice, so that what is deleted
// between two pages moves nothing.

import JSON

/// What can stand on a shelf.
protocol Shelved: Sendable {
    var id: String { get }
    /// Unique on its shelf; nil for what has no name.
    var name: String? { get }
    /// As it is kept in the state file.
    var saved: JSONNode { get }
    init?(saved: JSONNode)
}

struct Shelf<Item: Shelved>: Sendable {
    private struct Place: Sendable {
        let serial: Int64
        let id: String
    }

    private var items: [String: Item] = [:]
    /// By the bytes of the name: two spellings of an accent are two names.
    private var names: [[UInt8]: String] = [:]
    private var order: [Place] = []
    private var nextSerial: Int64 = 1
    /// Bytes of each item in the state file, and their sum.
    private var sizes: [String: Int] = [:]
    private(set) var bytes = 0

    var count: Int { items.count }
    var all: [Item] { order.compactMap { items[$0.id] } }

    subscript(id: String) -> Item? { items[id] }

    func named(_ name: String) -> Item? { names[Array(name.utf8)].flatMap { items[$0] } }

    /// Adds what is new, or replaces what has the same id.
    mutating func put(_ item: Item) {
        if let old = items[item.id] {
            if let name = old.name { names[Array(name.utf8)] = nil }
        } else {
            order.append(Place(serial: nextSerial, id: item.id))
            nextSerial += 1
        }
        if let name = item.name { names[Array(name.utf8)] = item.id }
        items[item.id] = item
        let size = item.saved.json.count
        bytes += size - (sizes[item.id] ?? 0)
        sizes[item.id] = size
    }

    mutating func remove(_ id: String) {
        guard let item = items.removeValue(forKey: id) else { return }
        if let name = item.name { names[Array(name.utf8)] = nil }
        order.removeAll { $0.id == id }
        bytes -= sizes.removeValue(forKey: id) ?? 0
    }

    /// Up to `limit` items that fit, and where the next page begins if there is one.
    ///
    /// - Parameter start: where an earlier page said that this one begins; nil for the first one.
    func page(
        from start: Int64?, descending: Bool, limit: Int, where fits: (Item) -> Bool = { _ in true }
    ) -> (items: [Item], first: Int64?, next: Int64?) {
        var found: [Item] = []
        var first: Int64?
        func take(_ place: Place) -> Int64? {
            if let start, descending ? place.serial > start : place.serial < start { return nil }
            guard let item = items[place.id], fits(item) else { return nil }
            guard found.count < limit else { return place.serial }
            if first == nil { first = place.serial }
            found.append(item)
            return nil
        }
        if descending {
            for place in order.reversed() {
                if let next = take(place) { return (found, first, next) }
            }
        } else {
            for place in order {
                if let next = take(place) { return (found, first, next) }
            }
        }
        return (found, first, nil)
    }
}
