/// Who may look at whom. A room that is missing from a row cannot be imported there.
enum FloorPlan {
  /// What one room may import: rooms of ours, and libraries.
  struct Room {
    let rooms: Set<String>
    let libraries: Set<String>

    init(_ rooms: Set<String> = [], libraries: Set<String> = []) {
      self.rooms = rooms
      self.libraries = libraries
    }
  }

  static let rooms: [String: Room] = [
    // Ground.
    "Secrets": Room(),
    "World": Room(),
    "ExposureKeys": Room(["Secrets"], libraries: ["Crypto", "CryptoExtras"]),
    "CExposureKernels": Room(),
    "CallableEnvelope": Room(),
    "UploadToken": Room(["Secrets", "World"], libraries: ["Crypto"]),
    // Floor 1.
    "CLibArchive": Room(),
    "CZlib": Room(),
    "DiagnosisKeyFile": Room(
      ["Secrets", "World", "ExposureKeys"],
      libraries: ["Crypto", "SwiftProtobuf", "CLibArchive", "CZlib"]),
    "SealedStorage": Room(["Secrets", "World"], libraries: ["Crypto"]),
    "VerificationAPI": Room(["Secrets", "CallableEnvelope", "UploadToken"]),
    "KeyServerAPI": Room(["Secrets", "CallableEnvelope", "UploadToken", "ExposureKeys"]),
    "QuietHTTP": Room(["Secrets", "World"], libraries: ["Hummingbird", "AsyncHTTPClient"]),
    // Apple's names for what apps around the framework use.
    "BackgroundTasks": Room(),
    "UserNotifications": Room(),
    "DeviceCheck": Room(),
    // Floor 2.
    "ExposureNotification": Room(
      ["Secrets", "World", "ExposureKeys", "CExposureKernels", "DiagnosisKeyFile", "SealedStorage"]
    ),
    "VerificationServer": Room(
      ["Secrets", "World", "VerificationAPI", "CallableEnvelope", "UploadToken", "QuietHTTP"],
      libraries: ["Hummingbird", "GRDB", "AsyncHTTPClient"]),
    "KeyServer": Room(
      [
        "Secrets", "World", "KeyServerAPI", "CallableEnvelope", "UploadToken", "DiagnosisKeyFile",
        "ExposureKeys", "QuietHTTP",
      ], libraries: ["Hummingbird", "GRDB", "GRDBSQLite", "AsyncHTTPClient"]),
    // Floor 3. The app names neither keys nor key files: it hands file URLs to the framework.
    "ExposureApp": Room(
      [
        "Secrets", "World", "ExposureNotification", "VerificationAPI", "KeyServerAPI",
        "CallableEnvelope",
        "SealedStorage",
      ], libraries: ["AsyncHTTPClient"]),
    "FieldTrials": Room(["ExposureKeys", "ExposureNotification"]),
    // Floor 4.
    "Simulation": Room(everythingBelowTheTown),
    // Decision 7: a story asks the app and the servers themselves.
    "Town": Room(
      everythingBelowTheTown.union(["Simulation"]), libraries: ["Hummingbird", "Mustache"]),
    // Roof.
    "firebreak": Room(
      everythingBelowTheTown.union(["CExposureKernels", "FieldTrials", "Simulation", "Town"]),
      libraries: ["Hummingbird", "GRDB", "AsyncHTTPClient", "Mustache", "ArgumentParser"]),
  ]

  /// Imports that every room may have.
  static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "Dispatch", "Synchronization",
  ]

  /// Libraries that every room above the ground may import, and every manifest may name for it.
  static let aboveGround: Set<String> = ["Crypto", "Logging", "Metrics", "ServiceLifecycle"]

  static let ground: Set<String> = [
    "Secrets", "World", "ExposureKeys", "CExposureKernels", "CallableEnvelope", "UploadToken",
  ]

  /// What a room in C may include beside its own headers: nothing there allocates, reads or writes.
  static let systemHeaders: [String: Set<String>] = [
    "CExposureKernels": [
      "stdbool.h", "stddef.h", "stdint.h", "string.h", "immintrin.h", "cpuid.h", "arm_neon.h",
      "sys/auxv.h",
    ],
    "CLibArchive": ["archive.h", "archive_entry.h"],
    "CZlib": ["zlib.h"],
  ]

  /// What `room` may import in all.
  static func importable(by room: String) -> Set<String>? {
    guard let plan = rooms[room] else { return nil }
    var all = plan.rooms.union(plan.libraries).union(foundation)
    if !ground.contains(room) { all.formUnion(aboveGround) }
    // The types that AsyncHTTPClient and Hummingbird take and give are SwiftNIO's.
    if !plan.libraries.isDisjoint(with: ["AsyncHTTPClient", "Hummingbird"]) { all.formUnion(nio) }
    return all
  }

  private static let nio: Set<String> = ["NIOCore", "NIOHTTP1", "NIOPosix"]

  /// Every module that a manifest has to declare.
  static var allModules: Set<String> {
    rooms.values.reduce(Set(rooms.keys).union(aboveGround)) { $0.union($1.libraries) }
  }

  private static let everythingBelowTheTown: Set<String> = [
    "Secrets", "World", "ExposureKeys", "CallableEnvelope", "UploadToken", "DiagnosisKeyFile",
    "SealedStorage", "VerificationAPI", "KeyServerAPI", "QuietHTTP", "ExposureNotification",
    "VerificationServer", "KeyServer", "ExposureApp",
  ]
}
