import Dispatch
import Foundation

/// Handles SIGINT (Ctrl-C) and SIGTERM as long as it lives.
final class SignalHandler {
  private static let signals = [SIGINT, SIGTERM]
  private let sources: [any DispatchSourceSignal]

  init(_ handle: @escaping @Sendable (_ signal: Int32) -> Void) {
    sources = Self.signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { handle(number) }
      source.resume()
      return source
    }
  }

  /// A handler that runs `cleanUp` and ends the program with 128 and the signal's number, as shells report it.
  static func exiting(after cleanUp: @escaping @Sendable () -> Void) -> SignalHandler {
    SignalHandler { signal in
      cleanUp()
      _exit(128 + signal)
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in Self.signals { signal(number, SIG_DFL) }
  }
}
