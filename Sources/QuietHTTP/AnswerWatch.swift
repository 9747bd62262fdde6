import NIOCore

/// Stands where a connection's bytes go out and hangs up on a peer that does not take its answers, so that
/// it does not keep a place among `QuietLimit.connectionsMax` and the answers in memory.
///
/// Documentation/QuietHTTP.md 2.6. A peer that sends nothing is the business of the idle time; this one
/// asks, and what it asked for waits.
final class AnswerWatch: ChannelDuplexHandler {
  typealias InboundIn = NIOAny
  typealias OutboundIn = IOData

  private let seconds: Int
  private var written = 0
  private var watch: Scheduled<Void>?

  /// Looks every `seconds` at what waits.
  init(seconds: Int) {
    self.seconds = seconds
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

  /// Nearly always the system takes everything at once, and there is nothing to watch.
  func flush(context: ChannelHandlerContext) {
    context.flush()
    guard watch == nil else { return }
    let waiting = waiting(context)
    if waiting > 0 { look(context, AnswerProgress(written: written, waiting: waiting)) }
  }

  private func look(_ context: ChannelHandlerContext, _ progress: AnswerProgress) {
    let loop = context.eventLoop.assumeIsolated()
    watch = loop.scheduleTask(in: .seconds(Int64(seconds))) { [self] in
      watch = nil
      var progress = progress
      let waiting = waiting(context)
      if progress.hasStalled(written: written, waiting: waiting) {
        context.close(promise: nil)
      } else if waiting > 0 {
        look(context, progress)
      }
    }
  }

  /// Bytes that the system has not yet taken for the peer; none where nobody can say, as of a connection that
  /// has ended.
  private func waiting(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
