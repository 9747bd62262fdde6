import Dispatch
import Foundation

/// Cleans up where a person or the system ends the program in the middle.
final class EndSignals {
  private let sources: [any DispatchSourceSignal]

  /// Does `cleanUp` on an interruption (Ctrl-C) or a termination and then ends with 128 and the
  /// signal's number, as shells have it. For as long as this object lives.
  init(_ cleanUp: @escaping @Sendable () -> Void) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        cleanUp()
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}
