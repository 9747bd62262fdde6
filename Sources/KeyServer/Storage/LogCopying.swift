import GRDB

/// Copies the write-ahead log into the file while uploads go on being committed.
///
/// SQLite does so by itself, but within a commit, for which every upload then waits that comes meanwhile.
/// Here another connection copies what there is; the writer only has to add what came in the meantime,
/// after which the log begins anew. Where the copying fails SQLite's own way is left, at twice the length.
struct LogCopying {
  private let due: DueWork

  /// Copies the log that `writer` writes, each time that it has grown by `pageCountMax` pages.
  init(of writer: DatabasePool, pageCountMax: Int) {
    due = DueWork("log copying", each: pageCountMax) {
      let beside = try? DatabaseQueue(path: writer.path, configuration: writer.configuration)
      try? beside?.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
      try? writer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
  }

  /// Takes notice of a commit of about so many pages, and has the log copied once it has become long.
  func committed(pageCount: Int) { due.add(pageCount) }
}
