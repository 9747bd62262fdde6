import Dispatch
import Foundation

/// Lets a person or the system stop the program in its own time.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]

  /// Does `stop` on an interruption (Ctrl-C) or a termination, for as long as this object lives. The
  /// program then ends by itself.
  init(_ stop: @escaping @Sendable () -> Void) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: stop)
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}
