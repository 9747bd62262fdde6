import Foundation
import GRDB
import Synchronization

/// Copies the write-ahead log into the file while uploads go on being committed.
///
/// SQLite does so by itself, but within a commit, for which every upload then waits that comes meanwhile.
/// Here another connection copies what there is; the writer only has to add what came in the meantime,
/// after which the log begins anew. Where the copying fails SQLite's own way is left, at twice the length.
final class LogCopying: Sendable {
  private let writer: DatabasePool
  private let pageCountMax: Int
  private let queue = DispatchQueue(label: "log copying")
  private let state = Mutex(State())

  private struct State {
    var pageCount = 0
    var isBusy = false
  }

  /// Copies the log that `writer` writes, each time that it has grown by `pageCountMax` pages.
  init(of writer: DatabasePool, pageCountMax: Int) {
    self.writer = writer
    self.pageCountMax = pageCountMax
  }

  /// Takes notice of a commit of about so many pages, and has the log copied once it has become long.
  func committed(pageCount: Int) {
    let begins = state.withLock { state in
      state.pageCount += pageCount
      guard state.pageCount >= pageCountMax, !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if begins { queue.async { self.copy() } }
  }

  private func copy() {
    let beside = try? DatabaseQueue(path: writer.path, configuration: writer.configuration)
    try? beside?.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    try? writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    state.withLock { $0 = State() }
  }
}
