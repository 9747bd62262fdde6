// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TextEncodings
import World

/// The values of the header `Date`, by the clock of the server. Each is formatted once.
final class ResponseDates: Sendable {
  private let clock: any WallClock
  private let last = Mutex<(second: Int64, text: String)>((.min, ""))

  init(_ clock: any WallClock) {
    self.clock = clock
  }

  /// The current value.
  var text: String {
    let now = clock.now
    return last.withLock { last in
      if last.second != now.unixSecond { last = (now.unixSecond, HTTPDate.text(now)) }
      return last.text
    }
  }
}

/// Replaces the header `Date` of each response. The HTTP library sets it by the time of the machine, which is not
/// the server's time if its clock is simulated.
final class ResponseDateHandler: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let dates: ResponseDates

  init(_ dates: ResponseDates) {
    self.dates = dates
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .head(var head) = unwrapOutboundIn(data),
      let date = head.headers.first(name: "Date"), case let text = dates.text, date != text
    else { return context.write(data, promise: promise) }
    head.headers.replaceOrAdd(name: "Date", value: text)
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
