// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// Handles signals as long as it lives: SIGINT (Ctrl-C) and SIGTERM, and others if they are given.
package final class SignalHandler {
  private let signals: [Int32]
  private let sources: [any DispatchSourceSignal]

  package init(and others: [Int32] = [], _ handle: @escaping @Sendable (_ signal: Int32) -> Void) {
    signals = [SIGINT, SIGTERM] + others
    sources = signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { handle(number) }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }
}
