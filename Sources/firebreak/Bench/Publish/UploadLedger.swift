import Synchronization

/// The uploads that are still to be sent, and what became of the others. All connections share it.
final class UploadLedger: Sendable {
  private struct State {
    var next = 0
    var exchanges: [UploadExchange] = []
  }

  private let uploads: [PreparedUpload]
  private let progress: @Sendable (Int) -> Void
  private let state: Mutex<State>

  /// `progress` is told now and then how many are done.
  init(_ uploads: [PreparedUpload], progress: @escaping @Sendable (Int) -> Void) {
    self.uploads = uploads
    self.progress = progress
    var state = State()
    state.exchanges.reserveCapacity(uploads.count)
    self.state = Mutex(state)
  }

  /// The next upload; nil where all have been taken.
  func take() -> PreparedUpload? {
    state.withLock { state in
      guard state.next < uploads.count else { return nil }
      state.next += 1
      return uploads[state.next - 1]
    }
  }

  /// Whether there is one left to take.
  var hasMore: Bool { state.withLock { $0.next < uploads.count } }

  func record(_ exchange: UploadExchange) {
    let count = state.withLock { state in
      state.exchanges.append(exchange)
      return state.exchanges.count
    }
    if count.isMultiple(of: Self.exchangesPerProgress) { progress(count) }
  }

  private static let exchangesPerProgress = 500

  /// What became of all.
  var exchanges: [UploadExchange] { state.withLock(\.exchanges) }
}
