import NIOCore
import NIOHTTP1

/// Stands at every connection and hangs up on a peer that does not take its answer, so that it does not
/// keep a place among `QuietLimit.connectionsMax` and the answer in memory.
///
/// Documentation/QuietHTTP.md 2.6. A peer that sends nothing is the business of the idle time; this one
/// asked, and what it asked for waits.
final class AnswerWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let seconds: Int
  private var watch: Scheduled<Void>?

  /// Looks every `seconds` at what waits.
  init(seconds: Int) {
    self.seconds = seconds
  }

  /// Puts `ConnectionPersistence` where a request's version can still be seen; a connection without it would
  /// promise what it does not keep.
  func handlerAdded(context: ChannelHandlerContext) {
    do {
      let pipeline = context.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(ConnectionPersistence(), position: .after(decoder))
    } catch {
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    watch?.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    watch?.cancel()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    watch?.cancel()
    watch = nil
    if !context.channel.isWritable { look(context, AnswerProgress(waiting: waiting(context))) }
    context.fireChannelWritabilityChanged()
  }

  private func look(_ context: ChannelHandlerContext, _ progress: AnswerProgress) {
    let loop = context.eventLoop.assumeIsolated()
    watch = loop.scheduleTask(in: .seconds(Int64(seconds))) { [self] in
      var progress = progress
      if progress.hasStalled(waiting: waiting(context)) {
        context.close(promise: nil)
      } else {
        look(context, progress)
      }
    }
  }

  /// Bytes that the peer has not taken; none where nobody can say, which then counts as nothing taken.
  private func waiting(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
