import CProcessControl
import Dispatch
import Foundation

/// Handles signals as long as it lives: SIGINT (Ctrl-C) and SIGTERM, and others if they are given.
final class SignalHandler {
  private let signals: [Int32]
  private let sources: [any DispatchSourceSignal]

  init(and others: [Int32] = [], _ handle: @escaping @Sendable (_ signal: Int32) -> Void) {
    signals = [SIGINT, SIGTERM] + others
    sources = signals.map { number in
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
    for number in signals { signal(number, SIG_DFL) }
  }
}

/// Protection of the process's memory, which holds secrets in the clear.
enum CoreDumps {
  /// Makes the kernel write no core dump of this process, neither to a file nor to a program, and refuse other
  /// processes of the same user that want to read its memory.
  ///
  /// Reading the memory of the process is then left to root. SECURITY.md says which secrets it holds.
  ///
  /// - Throws: `CommandFailure` if the system does not allow it.
  static func disable() throws(CommandFailure) {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0,
      firebreak_make_undumpable() == 0
    else {
      throw CommandFailure(
        status: .machineFailed,
        sentence: "Core dumps cannot be disabled: check the limits of the system.")
    }
  }
}
