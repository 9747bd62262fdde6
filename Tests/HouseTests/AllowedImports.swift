// SPDX-License-Identifier: Apache-2.0
/// The targets and libraries that each target may import. `ArchitectureTests` holds every import and
/// Package.swift to this table.
enum AllowedImports {
  /// The imports of one target.
  struct Row {
    let targets: Set<String>
    let libraries: Set<String>

    init(_ targets: Set<String> = [], libraries: Set<String> = []) {
      self.targets = targets
      self.libraries = libraries
    }
  }

  static let rows: [String: Row] = [
    // Ground.
    "Secrets": Row(libraries: ["Crypto"]),
    "World": Row(),
    "TextEncodings": Row(),
    "ExposureKeys": Row(["Secrets"], libraries: ["Crypto", "_CryptoExtras"]),
    "CExposureKernels": Row(),
    "CProcessControl": Row(),
    "UnixSockets": Row(["Secrets"]),
    "CallableEnvelope": Row(),
    "StrictJSON": Row(),
    "QRCodes": Row(),
    "ReportFormats": Row(["TextEncodings"]),
    "UploadToken": Row(["Secrets", "World", "TextEncodings", "StrictJSON"], libraries: ["Crypto"]),
    "CLibArchive": Row(),
    "CLibDeflate": Row(),
    "CZlib": Row(),
    "CPostgreSQL": Row(),
    "CPKCS11": Row(),
    "DiagnosisKeyFile": Row(
      ["Secrets", "World", "ExposureKeys"],
      libraries: ["Crypto", "SwiftProtobuf", "CLibDeflate"]),
    // libpq for Swift concurrency. It knows no table.
    "PostgreSQL": Row(["Secrets"], libraries: ["CPostgreSQL"]),
    // Keys on tokens. It knows no server.
    "PKCS11": Row(["Secrets", "TextEncodings"], libraries: ["CPKCS11"]),
    // Objects in an S3 store. It knows no key file.
    "ObjectStore": Row(
      ["Secrets", "World", "TextEncodings", "QuietHTTP"], libraries: ["AsyncHTTPClient"]),
    "SealedStorage": Row(["Secrets", "World"], libraries: ["Crypto"]),
    // The metrics of servers, in the data model of Prometheus.
    "ServerMetrics": Row(["World", "TextEncodings"]),
    // The databases of both servers on the disk: their backups, their health, trust in the clock.
    "ServerStorage": Row(
      ["Secrets", "ServerMetrics", "World", "TextEncodings", "PostgreSQL"],
      libraries: ["GRDB", "CLibArchive"]),
    // The budgets of several server processes, in their database. They know no server.
    "SharedBudgets": Row(["World", "PostgreSQL", "QuietHTTP", "ServerStorage"]),
    "Bluetooth": Row(["Secrets", "World", "TextEncodings", "ExposureKeys"]),
    "VerificationAPI": Row(["Secrets", "UploadToken"]),
    "RiskRules": Row(["TextEncodings"]),
    "KeyServerAPI": Row([
      "Secrets", "World", "TextEncodings", "StrictJSON", "CallableEnvelope", "ExposureKeys",
      "RiskRules",
    ]),
    "QuietHTTP": Row(
      ["Secrets", "ServerMetrics", "World", "TextEncodings", "StrictJSON"],
      libraries: [
        "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "AsyncHTTPClient", "NIOSSL",
      ]),
    // The common layer of the pages of console, web app, town, class and report.
    "WebPages": Row(
      ["Secrets", "World", "TextEncodings", "ReportFormats"],
      libraries: ["Hummingbird", "Mustache"]),
    // Linux implementations of the Apple modules that apps use beside the framework.
    "BackgroundTasks": Row(),
    "UserNotifications": Row(),
    "DesktopNotifications": Row(["World", "TextEncodings", "UnixSockets", "UserNotifications"]),
    "DeviceCheck": Row(),
    "ExposureNotification": Row(
      [
        "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels", "DiagnosisKeyFile",
        "SealedStorage",
      ]
    ),
    "VerificationServer": Row(
      [
        "Secrets", "World", "TextEncodings", "VerificationAPI", "CallableEnvelope", "UploadToken",
        "QuietHTTP", "WebPages", "ServerMetrics", "ServerStorage", "SharedBudgets", "PostgreSQL",
        "ReportFormats",
      ], libraries: ["Hummingbird", "Mustache", "GRDB", "AsyncHTTPClient"]),
    "KeyServer": Row(
      [
        "Secrets", "World", "TextEncodings", "StrictJSON", "KeyServerAPI", "CallableEnvelope",
        "UploadToken", "DiagnosisKeyFile", "ExposureKeys", "QuietHTTP", "ServerMetrics",
        "ServerStorage", "SharedBudgets", "PostgreSQL", "ObjectStore",
      ], libraries: ["Hummingbird", "GRDB", "GRDBSQLite", "AsyncHTTPClient"]),
    // The app never sees a key: it passes file URLs to the framework.
    "ExposureApp": Row(
      [
        "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureNotification",
        "VerificationAPI", "KeyServerAPI", "RiskRules", "SealedStorage",
      ], libraries: ["AsyncHTTPClient", "NIOSSL"]),
    "FieldTrials": Row([
      "World", "TextEncodings", "ReportFormats", "ExposureKeys",
      "ExposureNotification", "RiskRules",
    ]),
    // The console administers through a protocol, and imports no server.
    "HealthAuthorityConsole": Row(
      [
        "Secrets", "World", "TextEncodings", "QRCodes", "VerificationAPI", "KeyServerAPI",
        "QuietHTTP", "WebPages", "ServerMetrics", "ServerStorage", "SharedBudgets", "PostgreSQL",
        "UnixSockets", "ReportFormats",
      ],
      libraries: ["Hummingbird", "Mustache", "GRDB", "_CryptoExtras", "AsyncHTTPClient"]),
    "PhoneProcess": Row([
      "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureKeys", "SealedStorage",
      "DiagnosisKeyFile", "ExposureNotification", "ExposureApp", "KeyServerAPI", "RiskRules",
      "DesktopNotifications", "UnixSockets",
    ]),
    // The phone's user interface answers from the phone and the app.
    "PWA": Row(
      [
        "Secrets", "World", "TextEncodings", "ExposureApp", "PhoneProcess", "QuietHTTP",
        "WebPages",
      ],
      libraries: ["Hummingbird", "CZlib"]),
    // The model of a population knows no phone and no protocol.
    "Populations": Row(["World", "TextEncodings", "ReportFormats", "StrictJSON"]),
    "Simulation": Row(allBelowSimulation.union(["Populations", "RiskRules"])),
    // The demo asks the app and the servers directly (Documentation/Decisions/0007).
    "Town": Row(
      allBelowSimulation.union([
        "Populations", "PhoneProcess", "ReportFormats", "Simulation", "WebPages",
      ]),
      libraries: ["Hummingbird"]),
    // A lesson in class: the pages show what the simulation knows.
    "Classroom": Row(
      [
        "Secrets", "World", "TextEncodings", "QRCodes", "KeyServerAPI", "KeyServer", "QuietHTTP",
        "ExposureApp", "ReportFormats", "Simulation", "WebPages",
      ], libraries: ["Hummingbird"]),
    // The command line.
    "Terminal": Row([
      "World", "TextEncodings", "CProcessControl", "Secrets", "StrictJSON", "ExposureKeys",
      "ExposureNotification",
    ]),
    "Bench": Row(
      [
        "Terminal", "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels",
        "DiagnosisKeyFile", "ExposureNotification", "UploadToken", "KeyServerAPI", "KeyServer",
        "QuietHTTP", "PostgreSQL",
      ],
      libraries: [
        "ArgumentParser", "Hummingbird", "GRDB", "Subprocess", "SystemPackage", "CZlib",
      ]),
    // Synthetic phones that probe the servers.
    "Canary": Row([
      "Secrets", "ServerMetrics", "World", "DiagnosisKeyFile", "ExposureNotification",
      "ExposureApp", "KeyServerAPI", "KeyServer", "VerificationAPI", "Simulation",
    ]),
    // The settings files of servers and phones: one reader, and a table for each program.
    "Settings": Row([
      "Terminal", "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureKeys", "Bluetooth",
      "ExposureNotification", "ExposureApp", "PhoneProcess", "UploadToken", "VerificationAPI",
      "KeyServerAPI", "RiskRules", "QuietHTTP", "VerificationServer", "KeyServer", "ObjectStore",
    ]),
    // The command line and the console administer the servers through the same operations.
    "ServerOperations": Row([
      "Terminal", "Settings", "Secrets", "World", "TextEncodings", "ExposureKeys",
      "DiagnosisKeyFile", "ExposureNotification", "ExposureApp", "UploadToken", "VerificationAPI",
      "KeyServerAPI", "RiskRules", "QuietHTTP", "ServerMetrics", "ServerStorage", "PostgreSQL",
      "PKCS11", "ObjectStore", "VerificationServer",
      "KeyServer", "HealthAuthorityConsole",
    ]),
    // No database is opened here.
    "firebreak": Row(
      allBelowSimulation.union([
        "Terminal", "Bench", "Bluetooth", "Canary", "Classroom", "DesktopNotifications",
        "FieldTrials",
        "PhoneProcess", "Populations", "PWA", "UnixSockets", "Simulation", "Town",
        "HealthAuthorityConsole", "RiskRules", "Settings", "ServerOperations",
        "PostgreSQL", "WebPages",
      ]),
      libraries: [
        "Hummingbird", "AsyncHTTPClient", "Mustache", "ArgumentParser", "Subprocess",
        "SystemPackage",
      ]),
  ]

  /// The targets that other packages may depend on without the system (ARCHITECTURE.md, "Framework and system").
  static let framework: Set<String> = [
    "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels", "CLibDeflate",
    "DiagnosisKeyFile", "SealedStorage", "Bluetooth", "ExposureNotification", "BackgroundTasks",
    "UserNotifications", "DeviceCheck", "UnixSockets", "DesktopNotifications",
  ]

  /// The libraries of the framework. All others have the condition `System` in Package.swift.
  static let frameworkLibraries: Set<String> = [
    "Crypto", "_CryptoExtras", "SwiftProtobuf", "Logging",
  ]

  /// Modules that every target may import.
  static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "Dispatch", "Synchronization",
  ]

  /// Libraries that every target above the ground layer may import.
  static let aboveGround: Set<String> = ["Crypto", "Logging", "Metrics", "ServiceLifecycle"]

  static let ground: Set<String> = [
    "Secrets", "World", "TextEncodings", "ExposureKeys", "CExposureKernels", "CProcessControl",
    "CallableEnvelope", "StrictJSON", "UploadToken", "QRCodes", "UnixSockets",
  ]

  /// The system headers that C targets may include. None of them allocates, reads or writes.
  static let systemHeaders: [String: Set<String>] = [
    "CExposureKernels": [
      "stdbool.h", "stddef.h", "stdint.h", "string.h", "immintrin.h", "cpuid.h", "arm_neon.h",
      "sys/auxv.h",
    ],
    "CProcessControl": ["sys/prctl.h"],
    "CLibArchive": ["archive.h", "archive_entry.h"],
    "CLibDeflate": ["libdeflate.h"],
    "CZlib": ["zlib.h"],
    "CPostgreSQL": ["libpq-fe.h"],
    "CPKCS11": ["p11-kit-1/p11-kit/pkcs11.h"],
  ]

  /// Every module that `target` may import, or nil if the table has no row for it.
  static func modules(for target: String) -> Set<String>? {
    guard let row = rows[target] else { return nil }
    var all = row.targets.union(row.libraries).union(foundation)
    if !ground.contains(target) { all.formUnion(aboveGround) }
    // The APIs of AsyncHTTPClient and Hummingbird use types of SwiftNIO.
    if !row.libraries.isDisjoint(with: ["AsyncHTTPClient", "Hummingbird"]) { all.formUnion(nio) }
    return all
  }

  private static let nio: Set<String> = ["NIOCore", "NIOHTTP1", "NIOPosix"]

  /// Every module that Package.swift has to declare as a dependency.
  static var allModules: Set<String> {
    rows.values.reduce(Set(rows.keys).union(aboveGround).union(nio)) { $0.union($1.libraries) }
  }

  private static let allBelowSimulation: Set<String> = [
    "Secrets", "World", "TextEncodings", "StrictJSON", "ExposureKeys", "CallableEnvelope",
    "UploadToken", "DiagnosisKeyFile",
    "SealedStorage", "VerificationAPI", "KeyServerAPI", "QuietHTTP", "ExposureNotification",
    "VerificationServer", "KeyServer", "ExposureApp",
  ]
}
