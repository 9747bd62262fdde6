import Foundation
import TestSupport

@testable import KeyServer

/// The implementations of `KeyStore` that the suites run over; another database is another case.
enum StoreImplementation: CaseIterable {
  case sqlite, memory
  /// With so few keys that wait that they are sorted in all the time, beside the uploads.
  case sqliteSortingIn

  typealias Opening =
    @Sendable (_ exports: [ExportConfiguration], _ now: Date) throws -> any KeyStore

  /// How a database in `folder` is opened; whoever opens it again finds what was kept.
  func database(in folder: TemporaryFolder) -> Opening {
    switch self {
    case .sqlite:
      return {
        try SQLiteKeyStore(file: folder.path("keys.sqlite"), exports: $0, at: $1)
      }
    case .sqliteSortingIn:
      return {
        try SQLiteKeyStore(
          file: folder.path("keys.sqlite"), exports: $0, at: $1,
          upkeep: SQLiteUpkeep(waitingKeysMax: 4, pagesInLogMax: 100))
      }
    case .memory:
      let store = MemoryKeyStore()
      return { exports, now in
        store.begin(exports, at: now)
        return store
      }
    }
  }
}
