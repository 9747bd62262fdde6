// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The targets and their dependencies; Tests/HouseTests checks every import in the sources against them. ARCHITECTURE.md
// shows their layers.

/// For all our targets: Swift 6 mode, explicit imports, warnings are errors.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// For targets that use `ENManager`: it is open and not Sendable, so its async calls must stay with the caller.
let strictOnTheCallersActor: [SwiftSetting] =
  strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// The framework's libraries.
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
// Its name in both major versions of swift-crypto.
let cryptoExtras: Target.Dependency = .product(name: "_CryptoExtras", package: "swift-crypto")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

// The system's libraries: a package that depends on the framework with `traits: []` does not fetch them.
let system: TargetDependencyCondition? = .when(traits: ["System"])
let hummingbird: Target.Dependency = .product(
  name: "Hummingbird", package: "hummingbird", condition: system)
let hummingbirdCore: Target.Dependency = .product(
  name: "HummingbirdCore", package: "hummingbird", condition: system)
let hummingbirdTLS: Target.Dependency = .product(
  name: "HummingbirdTLS", package: "hummingbird", condition: system)
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift", condition: system)
let sqlite: Target.Dependency = .product(
  name: "GRDBSQLite", package: "GRDB.swift", condition: system)
let asyncHTTPClient: Target.Dependency = .product(
  name: "AsyncHTTPClient", package: "async-http-client", condition: system)
let nioCore: Target.Dependency = .product(
  name: "NIOCore", package: "swift-nio", condition: system)
let nioPosix: Target.Dependency = .product(
  name: "NIOPosix", package: "swift-nio", condition: system)
let nioEmbedded: Target.Dependency = .product(
  name: "NIOEmbedded", package: "swift-nio", condition: system)
let nioHTTP1: Target.Dependency = .product(
  name: "NIOHTTP1", package: "swift-nio", condition: system)
let nioSSL: Target.Dependency = .product(
  name: "NIOSSL", package: "swift-nio-ssl", condition: system)
let serviceLifecycle: Target.Dependency = .product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: system)
let subprocess: Target.Dependency = .product(
  name: "Subprocess", package: "swift-subprocess", condition: system)
let systemPackage: Target.Dependency = .product(
  name: "SystemPackage", package: "swift-system", condition: system)
let mustache: Target.Dependency = .product(
  name: "Mustache", package: "swift-mustache", condition: system)
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: system)

let package = Package(
  name: "firebreak",
  products: [
    .executable(name: "firebreak", targets: ["firebreak"]),
    .executable(name: "firebreak-benchmarks", targets: ["firebreak-benchmarks"]),
    .library(name: "ExposureNotification", targets: ["ExposureNotification"]),
    .library(name: "ExposureApp", targets: ["ExposureApp"]),
    .library(name: "KeyServerAPI", targets: ["KeyServerAPI"]),
    .library(name: "VerificationAPI", targets: ["VerificationAPI"]),
    .library(name: "RiskRules", targets: ["RiskRules"]),
    .library(name: "DiagnosisKeyFile", targets: ["DiagnosisKeyFile"]),
    .library(name: "ExposureKeys", targets: ["ExposureKeys"]),
    .library(name: "Secrets", targets: ["Secrets"]),
    .library(name: "World", targets: ["World"]),
    .library(name: "SealedStorage", targets: ["SealedStorage"]),
    .library(name: "Bluetooth", targets: ["Bluetooth"]),
    .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
    .library(name: "UserNotifications", targets: ["UserNotifications"]),
    .library(name: "DeviceCheck", targets: ["DeviceCheck"]),
    .library(name: "DesktopNotifications", targets: ["DesktopNotifications"]),
  ],
  traits: [
    .trait(
      name: "System",
      description: "The app's engine, the servers, the simulation and the command line."),
    .default(enabledTraits: ["System"]),
  ],
  dependencies: [
    // The framework.
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    // The system. Hummingbird's support for configuration files is not used.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1",
      traits: ["FullFoundation"]),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Values, and the interface to the operating system.
    .target(name: "Secrets", dependencies: [crypto], swiftSettings: strict),
    .target(name: "World", swiftSettings: strict),
    .target(name: "TextEncodings", swiftSettings: strict),
    .target(
      name: "ExposureKeys", dependencies: ["Secrets", crypto, cryptoExtras],
      swiftSettings: strictOnTheCallersActor),
    .target(name: "CExposureKernels"),
    .target(name: "UnixSockets", dependencies: ["Secrets"], swiftSettings: strict),
    .systemLibrary(name: "CProcessControl"),
    .target(name: "CallableEnvelope", swiftSettings: strict),
    .target(name: "StrictJSON", swiftSettings: strict),
    .target(name: "QRCodes", swiftSettings: strict),
    .target(name: "ReportFormats", dependencies: ["TextEncodings"], swiftSettings: strict),
    .target(
      name: "UploadToken",
      dependencies: [
        "Secrets", "World", "TextEncodings", "StrictJSON", crypto,
      ],
      swiftSettings: strict),

    // Formats, storage and interfaces that several targets share.
    .systemLibrary(
      name: "CLibArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(
      name: "CLibDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "DiagnosisKeyFile",
      dependencies: ["Secrets", "World", "ExposureKeys", "CLibDeflate", crypto, protobuf],
      exclude: ["Wire/export.proto", "Wire/README.md"], swiftSettings: strict),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "PostgreSQL", dependencies: ["Secrets", "CPostgreSQL", logging],
      swiftSettings: strict),
    .systemLibrary(name: "CPKCS11", providers: [.apt(["libp11-kit-dev"])]),
    .target(
      name: "PKCS11", dependencies: ["Secrets", "TextEncodings", "CPKCS11", crypto],
      swiftSettings: strict),
    .target(
      name: "ObjectStore",
      dependencies: [
        "Secrets", "World", "TextEncodings", "QuietHTTP", crypto, asyncHTTPClient, nioCore,
        nioHTTP1,
      ], swiftSettings: strict),
    .target(
      name: "SharedBudgets", dependencies: ["World", "PostgreSQL", "QuietHTTP", "ServerStorage"],
      swiftSettings: strict),
    .target(
      name: "SealedStorage", dependencies: ["Secrets", "World", crypto], swiftSettings: strict),
    .target(
      name: "ServerMetrics", dependencies: ["World", "TextEncodings"], swiftSettings: strict),
    .target(
      name: "ServerStorage",
      dependencies: [
        "Secrets", "ServerMetrics", "World", "TextEncodings", "PostgreSQL", "CLibArchive", crypto,
        grdb, logging,
      ],
      swiftSettings: strict),
    .target(
      name: "Bluetooth", dependencies: ["Secrets", "World", "TextEncodings", "ExposureKeys"],
      swiftSettings: strictOnTheCallersActor),
    .target(
      name: "VerificationAPI", dependencies: ["Secrets", "UploadToken"], swiftSettings: strict),
    .target(name: "RiskRules", dependencies: ["TextEncodings"], swiftSettings: strict),
    .target(
      name: "KeyServerAPI",
      dependencies: [
        "Secrets", "World", "TextEncodings", "StrictJSON", "CallableEnvelope",
        "ExposureKeys", "RiskRules", crypto,
      ],
      swiftSettings: strict),
    .target(
      name: "QuietHTTP",
      dependencies: [
        "Secrets", "ServerMetrics", "World", "TextEncodings", "StrictJSON", hummingbird,
        hummingbirdCore, hummingbirdTLS, asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL,
        logging, crypto,
        serviceLifecycle,
      ],
      swiftSettings: strict),

    // The common layer of web pages: forms, their origin, content policies, secrets, languages, texts.
    .target(
      name: "WebPages",
      dependencies: [
        "Secrets", "World", "TextEncodings", "ReportFormats", hummingbird, mustache, nioCore,
      ], resources: [.copy("WebFiles")], swiftSettings: strict),

    .target(name: "BackgroundTasks", swiftSettings: strictOnTheCallersActor),
    .target(name: "UserNotifications", swiftSettings: strictOnTheCallersActor),
    .target(
      name: "DesktopNotifications",
      dependencies: ["World", "TextEncodings", "UnixSockets", "UserNotifications", logging],
      swiftSettings: strictOnTheCallersActor),
    .target(name: "DeviceCheck", swiftSettings: strictOnTheCallersActor),

    // The framework on the phone, the two servers of the health authority.
    .target(
      name: "ExposureNotification",
      dependencies: [
        "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels", "DiagnosisKeyFile",
        "SealedStorage", crypto, logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .target(
      name: "VerificationServer",
      dependencies: [
        "Secrets", "World", "TextEncodings", "VerificationAPI", "CallableEnvelope", "UploadToken",
        "QuietHTTP", "WebPages", "ServerMetrics", "ServerStorage", "SharedBudgets", "PostgreSQL",
        "ReportFormats", hummingbird,
        mustache, grdb,
        asyncHTTPClient, nioCore,
        nioHTTP1, crypto, logging, serviceLifecycle,
      ], resources: [.copy("Catalogues")], swiftSettings: strict),
    .target(
      name: "KeyServer",
      dependencies: [
        "Secrets", "World", "TextEncodings", "StrictJSON", "KeyServerAPI", "CallableEnvelope",
        "UploadToken", "DiagnosisKeyFile", "ExposureKeys", "QuietHTTP", "ServerMetrics",
        "ServerStorage", "SharedBudgets", "PostgreSQL", "ObjectStore", hummingbird, grdb, sqlite,
        asyncHTTPClient,
        nioCore,
        nioHTTP1, crypto,
        logging,
        serviceLifecycle,
      ], swiftSettings: strict),

    // The app without a user interface, and recorded trials scored by the framework.
    .target(
      name: "ExposureApp",
      dependencies: [
        "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureNotification",
        "VerificationAPI", "KeyServerAPI", "RiskRules", "SealedStorage", asyncHTTPClient, nioCore,
        nioHTTP1,
        nioSSL, crypto, logging,
      ], swiftSettings: strictOnTheCallersActor),

    // The pages of the health authority's officials, with a database of their own.
    .target(
      name: "HealthAuthorityConsole",
      dependencies: [
        "Secrets", "World", "TextEncodings", "QRCodes", "VerificationAPI", "KeyServerAPI",
        "QuietHTTP", "WebPages", "ServerMetrics", "ServerStorage", "SharedBudgets", "PostgreSQL",
        "UnixSockets", "ReportFormats", hummingbird,
        mustache, grdb, asyncHTTPClient, nioCore,
        nioHTTP1, crypto, cryptoExtras, logging, serviceLifecycle,
      ], resources: [.copy("Catalogues")], swiftSettings: strict),

    .target(
      name: "FieldTrials",
      dependencies: [
        "World", "TextEncodings", "ReportFormats", "ExposureKeys", "ExposureNotification",
        "RiskRules",
      ],
      swiftSettings: strictOnTheCallersActor),

    // The simulation, and the demo that runs in it.
    // The model of a population: people, contacts, infection and radio; it knows no phone.
    .target(
      name: "Populations",
      dependencies: ["World", "TextEncodings", "ReportFormats", "StrictJSON"],
      swiftSettings: strict),
    .target(
      name: "Simulation",
      dependencies: [
        "Populations", "World", "TextEncodings", "ExposureKeys", "SealedStorage",
        "ExposureNotification",
        "ExposureApp", "DiagnosisKeyFile", "CallableEnvelope", "UploadToken", "VerificationAPI",
        "KeyServerAPI", "RiskRules", "VerificationServer", "KeyServer", crypto, logging,
        serviceLifecycle,
      ], swiftSettings: strictOnTheCallersActor),
    .target(
      name: "Town",
      dependencies: [
        "World", "TextEncodings", "ExposureKeys", "DiagnosisKeyFile", "ExposureNotification",
        "ExposureApp", "KeyServerAPI", "KeyServer", "Populations", "Simulation", "QuietHTTP",
        "WebPages", "ReportFormats", "PhoneProcess", hummingbird, nioCore, nioPosix, crypto,
        logging,
        serviceLifecycle,
      ], resources: [.copy("TownPage")],
      swiftSettings: strictOnTheCallersActor),

    // A phone as a process: storage, schedule, socket and notices around the framework and the app.
    .target(
      name: "PhoneProcess",
      dependencies: [
        "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureKeys", "SealedStorage",
        "DiagnosisKeyFile", "ExposureNotification", "ExposureApp", "KeyServerAPI", "RiskRules",
        "DesktopNotifications", "UnixSockets", logging,
      ], resources: [.copy("Texts")], swiftSettings: strictOnTheCallersActor),

    // The phone's user interface: a web app, and the bridge between its pages and the phone.
    .target(
      name: "PWA",
      dependencies: [
        "Secrets", "World", "TextEncodings", "ExposureApp", "PhoneProcess",
        "QuietHTTP", "WebPages", "CZlib", hummingbird, nioCore, logging,
      ], resources: [.copy("WebApp"), .copy("BridgeScript")], swiftSettings: strict),

    // A lesson: many phones in one process, an outbreak, and pages for the browsers of a class.
    .target(
      name: "Classroom",
      dependencies: [
        "Secrets", "World", "TextEncodings", "QRCodes", "KeyServerAPI", "KeyServer", "QuietHTTP",
        "WebPages", "ReportFormats", "ExposureApp", "Simulation", hummingbird, nioCore, crypto,
        logging, serviceLifecycle,
      ], resources: [.copy("WebFiles"), .copy("Catalogues")], swiftSettings: strictOnTheCallersActor
    ),

    // The command line: input, output and signals of every command, the benchmarks, the executable.
    .target(
      name: "Terminal",
      dependencies: [
        "World", "TextEncodings", "CProcessControl", "Secrets", "StrictJSON", "ExposureKeys",
        "ExposureNotification", crypto, logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .target(
      name: "Bench",
      dependencies: [
        "Terminal", "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels",
        "DiagnosisKeyFile", "ExposureNotification", "UploadToken", "KeyServerAPI", "KeyServer",
        "QuietHTTP", "PostgreSQL", "CZlib", crypto, grdb, logging, argumentParser, nioCore,
        nioHTTP1, nioPosix, subprocess, systemPackage,
      ], swiftSettings: strictOnTheCallersActor),
    // Synthetic phones that probe the servers.
    .target(
      name: "Canary",
      dependencies: [
        "Secrets", "ServerMetrics", "World", "DiagnosisKeyFile", "ExposureNotification",
        "ExposureApp", "KeyServerAPI", "KeyServer", "VerificationAPI", "Simulation", logging,
      ], swiftSettings: strictOnTheCallersActor),
    // The settings files of servers and phones.
    .target(
      name: "Settings",
      dependencies: [
        "Terminal", "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureKeys",
        "Bluetooth", "ExposureNotification", "ExposureApp", "PhoneProcess", "UploadToken",
        "VerificationAPI", "KeyServerAPI", "RiskRules", "QuietHTTP", "VerificationServer",
        "KeyServer", "ObjectStore", crypto, logging,
      ], swiftSettings: strictOnTheCallersActor),
    // The operations on the servers of one folder, for the command line and the console.
    .target(
      name: "ServerOperations",
      dependencies: [
        "Terminal", "Settings", "Secrets", "World", "TextEncodings", "ExposureKeys",
        "DiagnosisKeyFile", "ExposureNotification", "ExposureApp", "UploadToken",
        "VerificationAPI", "KeyServerAPI", "RiskRules", "QuietHTTP", "ServerMetrics",
        "ServerStorage", "PostgreSQL", "PKCS11", "ObjectStore",
        "VerificationServer", "KeyServer", "HealthAuthorityConsole", crypto, logging,
        serviceLifecycle,
      ], swiftSettings: strictOnTheCallersActor),
    .executableTarget(
      name: "firebreak",
      dependencies: [
        "Terminal", "Settings", "ServerOperations", "Bench", "Canary", "Classroom", "PWA", "Town",
        "FieldTrials", "PhoneProcess", "Bluetooth", "DesktopNotifications", "UnixSockets",
        "Populations", "Simulation", "HealthAuthorityConsole", "WebPages",
        "DiagnosisKeyFile", "ExposureKeys", "SealedStorage", "ExposureNotification", "ExposureApp",
        "KeyServerAPI", "KeyServer", "VerificationServer", "QuietHTTP", "RiskRules", "Secrets",
        "World", "TextEncodings", "PostgreSQL", crypto, logging, argumentParser, subprocess,
        systemPackage,
      ],
      swiftSettings: strictOnTheCallersActor, plugins: ["CommitPlugin"]),
    // The commit that `firebreak --version` prints.
    .plugin(name: "CommitPlugin", capability: .buildTool()),

    // What is measured for the project: the published set with its targets, overload, many phones, sizes of filters.
    .executableTarget(
      name: "firebreak-benchmarks",
      dependencies: [
        "Bench", "Terminal", "DiagnosisKeyFile", "ExposureApp", "ExposureNotification", "QuietHTTP",
        "Simulation",
        "World", "TextEncodings", "Browser", "TestSupport", argumentParser, crypto, logging,
        nioCore,
        subprocess, systemPackage,
      ], path: "Benchmarks", swiftSettings: strictOnTheCallersActor),

    // The snippets of the framework's reference: what an app outside this package can call, and the
    // language mode that most apps have.
    .executableTarget(
      name: "snippets", dependencies: ["ExposureNotification"], path: "Documentation/Snippets",
      packageAccess: false,
      swiftSettings: [
        .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),

    // An app for Apple's framework. It imports Foundation and Apple's modules, in the language mode of most apps.
    .target(
      name: "App", dependencies: ["ExposureNotification", "BackgroundTasks", "UserNotifications"],
      path: "Examples/Sources/App", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),

    // The simulated phone, user and server around that app.
    .executableTarget(
      name: "ExampleApp",
      dependencies: [
        "App", "ExposureNotification", "BackgroundTasks", "UserNotifications", "DiagnosisKeyFile",
        "ExposureKeys", "KeyServerAPI", "VerificationAPI", "SealedStorage", "World", crypto,
        subprocess,
      ], path: "Examples/Sources/ExampleApp", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),

    // Shared by the tests: the published vectors, temporary folders, child processes, an HTTP client, a manual clock.
    .target(
      name: "TestSupport",
      dependencies: [
        "World", "PostgreSQL", crypto, grdb, logging, hummingbird, asyncHTTPClient, nioCore,
        nioHTTP1, subprocess, systemPackage,
      ],
      path: "Tests/TestSupport",
      swiftSettings: strict
    ),

    // A headless browser for tests and benchmarks of web pages.
    .target(
      name: "Browser",
      dependencies: [
        "TextEncodings", "TestSupport", asyncHTTPClient, nioCore, nioHTTP1,
      ],
      path: "Tests/Browser", exclude: ["Scripts"], swiftSettings: strictOnTheCallersActor),

    // The servers and phones of a test, each in a process of its own.
    .target(
      name: "ServedSystem",
      dependencies: [
        "DiagnosisKeyFile", "ExposureKeys", "KeyServerAPI", "PhoneProcess", "Secrets", "World",
        "TextEncodings", "TestSupport", crypto,
      ], path: "Tests/ServedSystem", swiftSettings: strictOnTheCallersActor),

    .testTarget(
      name: "SnippetTests", dependencies: ["snippets", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "HouseTests", dependencies: ["TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ExposureKeysTests", dependencies: ["TextEncodings", "ExposureKeys", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "CExposureKernelsTests",
      dependencies: ["TextEncodings", "CExposureKernels", "TestSupport", crypto, cryptoExtras],
      swiftSettings: strict),
    .testTarget(
      name: "DiagnosisKeyFileTests",
      dependencies: [
        "DiagnosisKeyFile", "ExposureKeys", "World", "TextEncodings", "CLibArchive", "TestSupport",
        crypto, protobuf,
      ],
      swiftSettings: strict),
    .testTarget(name: "SecretsTests", dependencies: ["Secrets"], swiftSettings: strict),
    .testTarget(
      name: "PostgreSQLTests", dependencies: ["PostgreSQL", "TestSupport", logging],
      swiftSettings: strict),
    .testTarget(
      name: "PKCS11Tests", dependencies: ["PKCS11", "TestSupport", crypto], swiftSettings: strict),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: ["ObjectStore", "QuietHTTP", "World", "TestSupport", asyncHTTPClient],
      swiftSettings: strict),
    .testTarget(
      name: "UnixSocketsTests", dependencies: ["UnixSockets", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ServerMetricsTests", dependencies: ["ServerMetrics", "World", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "TextEncodingsTests", dependencies: ["TextEncodings"], swiftSettings: strict),
    .testTarget(name: "WorldTests", dependencies: ["World", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "TownTests",
      dependencies: [
        "Town", "Bluetooth", "ExposureApp", "ExposureKeys", "Populations", "ServerStorage",
        "Simulation", "World", "TestSupport",
      ], swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "CallableEnvelopeTests", dependencies: ["CallableEnvelope"], swiftSettings: strict),
    .testTarget(
      name: "StrictJSONTests", dependencies: ["StrictJSON"], swiftSettings: strict),
    .testTarget(name: "QRCodesTests", dependencies: ["QRCodes"], swiftSettings: strict),
    .testTarget(
      name: "ClassroomTests",
      dependencies: [
        "Classroom", "ExposureApp", "Simulation", "WebPages", "World", "TestSupport",
        asyncHTTPClient, nioCore, nioHTTP1, logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "SealedStorageTests", dependencies: ["SealedStorage", "World", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "BluetoothTests",
      dependencies: ["Bluetooth", "ExposureKeys", "World", "TestSupport"],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "QuietHTTPTests",
      dependencies: [
        "QuietHTTP", "ServerMetrics", "StrictJSON", "World", "TestSupport", hummingbird, logging,
        nioCore, nioHTTP1, serviceLifecycle,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WebPagesTests",
      dependencies: ["WebPages", "ReportFormats", hummingbird, mustache, nioCore],
      swiftSettings: strict),
    .testTarget(
      name: "ExposureNotificationTests",
      dependencies: [
        "ExposureNotification", "CExposureKernels", "DiagnosisKeyFile", "ExposureKeys",
        "KeyServerAPI", "SealedStorage", "World", "TextEncodings", "TestSupport", crypto, logging,
      ], swiftSettings: strictOnTheCallersActor),
    // Written as an app is: Swift 5 mode, nothing but Foundation and the framework.
    .testTarget(
      name: "AppleAPITests", dependencies: ["ExposureNotification"],
      swiftSettings: [
        .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    // What published apps write against Apple's modules, and tests that run it. It is written as an app is, like the
    // target above.
    .testTarget(
      name: "AppleModulesTests",
      dependencies: [
        "ExposureNotification", "BackgroundTasks", "UserNotifications", "DeviceCheck",
        "ExposureKeys", "SealedStorage", "World", "TestSupport",
      ],
      swiftSettings: [
        .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    .testTarget(
      name: "BackgroundTasksTests", dependencies: ["BackgroundTasks"],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "UserNotificationsTests", dependencies: ["UserNotifications"],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "DesktopNotificationsTests",
      dependencies: [
        "DesktopNotifications", "UnixSockets", "UserNotifications", "World", "TestSupport", logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "DeviceCheckTests", dependencies: ["DeviceCheck"],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "UploadTokenTests",
      dependencies: ["TextEncodings", "UploadToken", "TestSupport", crypto], swiftSettings: strict),
    .testTarget(
      name: "VerificationServerTests",
      dependencies: [
        "VerificationServer", "VerificationAPI", "CallableEnvelope", "UploadToken", "QuietHTTP",
        "WebPages", "KeyServer", "KeyServerAPI", "ServerMetrics", "ServerStorage", "SharedBudgets",
        "PostgreSQL", "World",
        "TestSupport",
        hummingbird, grdb, crypto, logging, serviceLifecycle,
      ], swiftSettings: strict),
    .testTarget(
      name: "KeyServerAPITests",
      dependencies: [
        "KeyServerAPI", "RiskRules", "StrictJSON", "ExposureKeys", "TestSupport", crypto,
      ],
      swiftSettings: strict),
    .testTarget(name: "RiskRulesTests", dependencies: ["RiskRules"], swiftSettings: strict),
    .testTarget(
      name: "KeyServerTests",
      dependencies: [
        "KeyServer", "KeyServerAPI", "UploadToken", "DiagnosisKeyFile", "ExposureKeys", "QuietHTTP",
        "Secrets", "ServerMetrics", "ServerStorage", "PostgreSQL", "ObjectStore", "World",
        "TestSupport", hummingbird,
        crypto, grdb, logging,
      ], swiftSettings: strict),
    .testTarget(
      name: "ExposureAppTests",
      dependencies: [
        "ExposureApp", "ExposureNotification", "Secrets", "TextEncodings", "KeyServerAPI",
        "RiskRules", "VerificationAPI", "CallableEnvelope", "SealedStorage", "DiagnosisKeyFile",
        "ExposureKeys",
        "TestSupport", hummingbird, crypto, logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "PhoneProcessTests",
      dependencies: [
        "PhoneProcess", "ExposureApp", "ExposureNotification", "ExposureKeys", "DiagnosisKeyFile",
        "KeyServerAPI", "RiskRules", "SealedStorage", "Secrets", "DesktopNotifications",
        "UnixSockets", "World", "TestSupport", logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "PWATests",
      dependencies: [
        "PWA", "PhoneProcess", "ExposureApp", "QuietHTTP", "Secrets", "World", "TextEncodings",
        "TestSupport", logging,
      ], swiftSettings: strict),
    .testTarget(
      name: "HealthAuthorityConsoleTests",
      dependencies: [
        "HealthAuthorityConsole", "QuietHTTP", "VerificationServer", "VerificationAPI",
        "KeyServerAPI",
        "RiskRules", "ServerStorage", "PostgreSQL", "UploadToken", "QRCodes", "WebPages", "World",
        "TextEncodings", "Browser", "TestSupport", crypto, cryptoExtras, grdb, logging,
        serviceLifecycle, hummingbird, nioCore, nioEmbedded,
      ], exclude: ["AccessibilityTrees"], swiftSettings: strict),
    .testTarget(
      name: "FieldTrialsTests",
      dependencies: [
        "FieldTrials", "ExposureNotification", "ExposureKeys", "RiskRules", "TestSupport",
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "PopulationsTests", dependencies: ["Populations", "CZlib", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "Populations", "Simulation", "Town", "DiagnosisKeyFile", "ExposureApp", "ExposureKeys",
        "ExposureNotification", "KeyServer", "KeyServerAPI", "World", "TextEncodings",
        "TestSupport", crypto, logging,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "BenchmarksTests",
      dependencies: [
        "Bench", "TextEncodings", "firebreak-benchmarks", "firebreak", "TestSupport",
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "TerminalTests",
      dependencies: ["Terminal", "ExposureKeys", "TestSupport", "World", crypto, logging],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "SettingsTests",
      dependencies: [
        "Settings", "Terminal", "firebreak", "ExposureKeys", "ExposureNotification", "KeyServer",
        "KeyServerAPI", "PhoneProcess", "RiskRules", "UploadToken", "VerificationAPI",
        "VerificationServer", "TextEncodings", "ServedSystem", "TestSupport", crypto,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "ServerOperationsTests",
      dependencies: [
        "ServerOperations", "Settings", "Secrets", "Terminal", "firebreak", "DiagnosisKeyFile",
        "ExposureKeys", "HealthAuthorityConsole", "KeyServer", "KeyServerAPI", "RiskRules",
        "VerificationServer", "World", "PostgreSQL", "ServerStorage",
        "TextEncodings", "ServedSystem", "TestSupport", crypto, grdb, logging, serviceLifecycle,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "CanaryTests",
      dependencies: [
        "Canary", "Simulation", "KeyServer", "KeyServerAPI", "RiskRules", "VerificationServer",
        "DiagnosisKeyFile", "ExposureApp", "ExposureKeys", "ServerMetrics", "UploadToken", "World",
        "TestSupport", crypto, logging,
      ], swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "BenchTests",
      dependencies: [
        "Bench", "Terminal", "World", "ExposureKeys", "ExposureNotification", "TestSupport", grdb,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "FirebreakTests",
      dependencies: [
        "firebreak", "Terminal", "Settings", "DiagnosisKeyFile", "ExposureKeys",
        "ExposureNotification", "UploadToken", "HealthAuthorityConsole", "KeyServerAPI",
        "KeyServer", "RiskRules", "VerificationServer", "World", "TextEncodings", "PhoneProcess",
        "QuietHTTP", "Secrets", "ServedSystem", "ServerStorage", "TestSupport", "UnixSockets",
        nioCore,
        nioHTTP1, nioPosix, crypto, grdb,
      ],
      swiftSettings: strictOnTheCallersActor),
    .testTarget(
      name: "WebAppTests",
      dependencies: [
        "TextEncodings", "firebreak", "Browser", "PhoneProcess", "ServedSystem", "TestSupport",
        nioCore, nioPosix,
      ],
      exclude: ["AccessibilityTrees", "OtherApp", "QRCodes"], swiftSettings: strictOnTheCallersActor
    ),
  ]
)

// For `make docs` only: a build of the tests would compile its plugins first, one file after another.
if Context.environment["FIREBREAK_DOCS"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
