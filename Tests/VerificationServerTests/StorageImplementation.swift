import Foundation
import TestSupport

@testable import VerificationServer

/// The implementations of `CodeStorage` that the suites run over; another database is another case.
enum StorageImplementation: CaseIterable {
  case sqlite, memory

  /// How a database in `folder` is opened; whoever opens it again finds what was kept.
  func database(in folder: TemporaryFolder) -> @Sendable () throws -> any CodeStorage {
    switch self {
    case .sqlite:
      return { try SQLiteCodeStorage(file: folder.path("verification.sqlite")) }
    case .memory:
      let storage = MemoryCodeStorage()
      return { storage }
    }
  }

  /// A new database in `folder`.
  func open(in folder: TemporaryFolder) throws -> any CodeStorage {
    try database(in: folder)()
  }
}
