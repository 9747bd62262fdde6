import Foundation
import NIOCore

/// Stands where a connection's bytes go out and hangs up on a peer that does not take its answers, so that
/// it does not keep a place among `QuietLimit.connectionsMax` and the answers in memory.
///
/// Documentation/QuietHTTP.md 2.6. A peer that sends nothing is the business of the idle time; this one
/// asks, and what it asked for waits: here, or in the system's buffers, which hold megabytes of small answers.
final class AnswerWatch: ChannelDuplexHandler {
  typealias InboundIn = NIOAny
  typealias OutboundIn = IOData

  private let pause: TimeAmount
  private var written = 0
  private var progress = AnswerProgress()
  private var watch: Scheduled<Void>?

  /// Gives a peer `seconds` for what it must take.
  init(seconds: Int) {
    pause = .milliseconds(Int64(seconds * 1_000 / AnswerProgress.looks))
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    watch?.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    watch?.cancel()
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    written += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if watch == nil { look(context) }
  }

  /// Looks, and again after a pause for as long as something is owed; at the next answer where the system does not
  /// say what was taken.
  private func look(_ context: ChannelHandlerContext) {
    guard let socket = context.channel as? any SocketOptionProvider else { return }
    let facts: EventLoopFuture<TCPFacts> = socket.unsafeGetSocketOption(
      level: .tcp, name: .tcp_info)
    facts.assumeIsolated().whenSuccess { [self] facts in
      guard let taken = facts.taken else { return }
      if progress.hasStalled(written: written, taken: taken) {
        hangUp(context, socket)
      } else if progress.isOwed {
        lookAgain(context)
      } else {
        progress = AnswerProgress()
      }
    }
  }

  /// Resets the connection: after an ordinary close the system would go on keeping what was not taken.
  private func hangUp(_ context: ChannelHandlerContext, _ socket: any SocketOptionProvider) {
    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  private func lookAgain(_ context: ChannelHandlerContext) {
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
      watch = nil
      look(context)
    }
  }
}
