/// One after the other: a change of the phone's state begins when the last one has ended.
///
/// An actor alone would let a second change in wherever the first one waits for the radio or the
/// disk, and a phone that was just switched off could be left sending.
actor Turns {
  private var last: Task<Void, Never>?

  func take<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let before = last
    let turn = Task {
      await before?.value
      return try await work()
    }
    last = Task { _ = await turn.result }
    return try await turn.value
  }
}
