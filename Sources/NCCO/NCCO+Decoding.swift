// SPDX-License-Identifier: MIT
//
// From JSON text to actions, in two steps: the text becomes a tree, the tree becomes actions. A checker that knows more than the types do
// can look at the tree in between.
//
// What Vonage takes is taken: numbers and booleans as text, older and mistaken spellings, settings of keys beside the action's own options.
// It is written again in the reference's one form. Options that nobody knows are kept, and can be asked for.

package import JSON

extension NCCO {
    /// Reads an NCCO from JSON text in UTF-8.
    ///
    /// Options that the types do not know are kept in `otherOptions` of each and named by `otherOptionPaths`. A `wait` out of range is
    /// read as the nearest time in range, as Vonage does.
    ///
    /// - Throws: `NCCOError` for the first thing that is not allowed, with its path; for text that is not JSON, or nested more than 64 deep,
    ///   with line and column.
    public init(json: Span<UInt8>) throws(NCCOError) {
        let tree: JSONNode
        do throws(JSONError) { tree = try parseJSON(json, maximumDepth: JSONValue.maximumDepth) } catch { throw NCCOError(error) }
        try self.init(tree: tree)
    }

    /// Reads an NCCO from JSON text.
    ///
    /// - Throws: as the other.
    public init(json: String) throws(NCCOError) { try self.init(json: Array(json.utf8).span) }

    /// Reads an NCCO from the tree of a JSON text.
    ///
    /// - Throws: `NCCOError` with a path such as `$[1].endpoint[0].number` for the first thing that is not allowed.
    package init(tree: JSONNode) throws(NCCOError) {
        guard case .array(let nodes) = tree.value else {
            throw NCCOError(option: "NCCO", value: tree.kind.rawValue, allowed: "an array of actions", path: "$")
        }
        var actions: [Action] = []
        for (index, node) in nodes.enumerated() { actions.append(try Action(node, path: "$[\(index)]")) }
        self.init(actions)
    }

    /// The places of options that were read and that no type knows, such as `$[0].voiceName`, in the order of the actions.
    public var otherOptionPaths: [String] {
        var paths: [String] = []
        for (index, action) in actions.enumerated() { action.appendOtherOptionPaths(at: "$[\(index)]", to: &paths) }
        return paths
    }
}
