/// A port that is known later; whoever asks before waits.
actor BoundPort {
  private var port: Int?
  private var waiting: [CheckedContinuation<Int, Never>] = []

  var value: Int {
    get async {
      if let port { return port }
      return await withCheckedContinuation { waiting.append($0) }
    }
  }

  /// The first call decides.
  func settle(_ port: Int) {
    guard self.port == nil else { return }
    self.port = port
    for continuation in waiting { continuation.resume(returning: port) }
    waiting = []
  }
}
