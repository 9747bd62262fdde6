import ServiceLifecycle

/// A server that runs in the background until the story is over.
struct ServerRun {
  private let task: Task<Void, any Error>

  init(_ service: any Service) {
    task = Task { try await service.run() }
  }

  /// Stops it and waits until it has let go of its port and files.
  func stop() async {
    task.cancel()
    _ = await task.result
  }
}
