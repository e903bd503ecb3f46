// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT
//
// The map of the code. Three layers: protocol cores that know no socket, clock or file (`JSON`, `NCCO`, `HTTPWire`); what touches the
// machine (`HTTPServer`, `EventLog`); and the application (`Switchboard`) with its executable.
//
// The executable's target is `SwitchboardCommand` and its product `switchboard`: two targets whose names differ only in case could not
// share a checkout on the case-insensitive file systems that macOS comes with.

import PackageDescription

let package = Package(
    name: "switchboard",
    // Where Span, InlineArray and Atomic of the standard library are; on Linux they come with the toolchain.
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "switchboard", targets: ["SwitchboardCommand"]),
        .library(name: "NCCO", targets: ["NCCO"]),
        .library(name: "VonageAuth", targets: ["VonageAuth"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["libz-dev"])]),
        // The files of the page, put into the binary by the C compiler: as array literals they would take Swift half a minute.
        .target(name: "CPage"),

        .target(name: "Locking"),
        .target(name: "JSON"),
        .target(name: "NCCO", dependencies: ["JSON"]),
        .target(name: "HTTPWire"),
        .target(name: "HTTPServer", dependencies: ["HTTPWire", "Locking", "CLinux", "COpenSSL"]),
        // Of HTTPWire it takes how a query is read and a date is written, of NCCO how text from outside is shown; it knows no message and no
        // action.
        .target(name: "VonageAuth", dependencies: ["JSON", "HTTPWire", "NCCO", "Locking", "COpenSSL"]),
        // Of HTTPWire it takes how hexadecimal digits are read.
        .target(name: "VonageAPI", dependencies: ["JSON", "HTTPWire", "Locking", "CCurl"]),
        // Of HTTPWire it takes how requests and responses look as values; it shares nothing with the server that it stands in for.
        // NCCO is how it reads what a played call is answered with.
        .target(name: "VonageSimulator", dependencies: ["JSON", "NCCO", "HTTPWire", "HTTPServer", "Locking", "VonageAuth"]),
        .target(name: "EventLog", dependencies: ["JSON", "Locking", "CLinux", "CZlib"]),
        .target(
            name: "Switchboard",
            dependencies: ["CLinux", "CPage", "JSON", "NCCO", "HTTPWire", "HTTPServer", "EventLog", "Locking", "VonageAuth", "VonageAPI"],
            exclude: ["Page/Files"]),
        .executableTarget(
            name: "SwitchboardCommand",
            dependencies: [
                "Switchboard", "NCCO", "HTTPServer", "EventLog", "Locking", "VonageAuth", "VonageAPI", "VonageSimulator", "JSON",
            ]),

        .target(name: "TestSupport", dependencies: ["COpenSSL"], path: "Tests/TestSupport"),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], resources: [.copy("Vectors")]),
        .testTarget(name: "NCCOTests", dependencies: ["NCCO", "JSON"], resources: [.copy("Vectors")]),
        .testTarget(name: "HTTPWireTests", dependencies: ["HTTPWire"], resources: [.copy("Vectors")]),
        .testTarget(name: "HTTPServerTests", dependencies: ["HTTPServer", "HTTPWire", "VonageAuth", "COpenSSL", "TestSupport"]),
        .testTarget(name: "VonageAPITests", dependencies: ["VonageAPI", "Locking"]),
        .testTarget(name: "VonageAuthTests", dependencies: ["VonageAuth", "JSON", "TestSupport"], resources: [.copy("Vectors")]),
        .testTarget(
            name: "VonageSimulatorTests", dependencies: ["VonageSimulator", "HTTPServer", "HTTPWire", "JSON", "NCCO", "VonageAuth"]),
        .testTarget(name: "EventLogTests", dependencies: ["EventLog", "Locking", "CZlib"]),
        .testTarget(
            name: "SwitchboardTests",
            dependencies: [
                "Switchboard", "HTTPServer", "HTTPWire", "EventLog", "NCCO", "JSON", "Locking", "VonageAuth", "VonageAPI", "TestSupport",
            ],
            resources: [.copy("Vectors")]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Switchboard", "HTTPServer", "HTTPWire", "EventLog", "NCCO", "JSON", "Locking", "VonageAuth", "VonageAPI",
                "VonageSimulator",
                "SwitchboardCommand", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// A fuzzer has libFuzzer's `main`, which an ordinary build does not link: Tests/Fuzz/run.sh sets the variable.
if Context.environment["SWITCHBOARD_FUZZ"] != nil {
    for (name, subject) in [("JSONFuzz", "JSON"), ("RequestFuzz", "HTTPWire")] {
        package.targets.append(
            .executableTarget(name: name, dependencies: [.init(stringLiteral: subject)], path: "Tests/Fuzz/\(name)", exclude: ["Corpus"]))
    }
}

/// No pointer and no C: here the compiler proves it.
let pure: Set = ["JSON", "NCCO", "HTTPWire"]
for target in package.targets where target.type != .system && target.name != "CPage" {
    target.swiftSettings = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }
    target.swiftSettings?.append(.treatAllWarnings(as: .error))
    if pure.contains(target.name) { target.swiftSettings?.append(.strictMemorySafety()) }
}
