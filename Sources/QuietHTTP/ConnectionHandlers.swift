import NIOCore
import NIOHTTP1

/// Puts what every connection wears where it sees what it needs; the HTTP library would put all of it behind
/// its own.
///
/// A connection that cannot wear it would promise what it does not keep, and is closed.
final class ConnectionHandlers: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let bounds: ConnectionBounds
  private let addresses: AddressCounts

  /// For a connection within `bounds`, that is counted among those of its address in `addresses`.
  init(_ bounds: ConnectionBounds, _ addresses: AddressCounts) {
    self.bounds = bounds
    self.addresses = addresses
  }

  func handlerAdded(context: ChannelHandlerContext) {
    do {
      let pipeline = context.pipeline.syncOperations
      // Where a request's version can still be seen.
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(ConnectionPersistence(), position: .after(decoder))
      // Where answers are bytes.
      try pipeline.addHandler(AnswerWatch(seconds: bounds.answerSeconds), position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  /// Documentation/QuietHTTP.md 2.8.
  func channelActive(context: ChannelHandlerContext) {
    if let prefix = addresses.prefix(of: NumericAddress(context.remoteAddress)) {
      guard addresses.begin(prefix) else { return context.close(promise: nil) }
      context.channel.closeFuture.whenComplete { [addresses] _ in addresses.end(prefix) }
    }
    context.fireChannelActive()
  }
}
