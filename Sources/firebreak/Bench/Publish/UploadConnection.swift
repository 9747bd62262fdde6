import NIOCore
import NIOHTTP1

/// One connection of the load: sends an upload, waits for the whole answer, sends the next.
final class UploadConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let ledger: UploadLedger
  private let path: String
  private let headers: HTTPHeaders
  /// The upload that waits for its answer, and since when.
  private var waiting: (upload: PreparedUpload, since: ContinuousClock.Instant)?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  init(_ ledger: UploadLedger, target: PublishTarget) {
    self.ledger = ledger
    path = target.path
    headers = [
      "host": target.hostField, "user-agent": "firebreak-bench", "content-type": "application/json",
    ]
  }

  func channelActive(context: ChannelHandlerContext) {
    sendNext(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
    case .end: answered(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Nothing came for too long: the exchange has failed.
    if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    guard let waiting else { return }
    self.waiting = nil
    ledger.record(
      UploadExchange(
        isChaff: waiting.upload.isChaff, duration: ContinuousClock.now - waiting.since, answer: nil)
    )
  }

  private func answered(_ context: ChannelHandlerContext) {
    guard let waiting, let head else { return context.close(promise: nil) }
    let duration = ContinuousClock.now - waiting.since
    self.waiting = nil
    ledger.record(
      UploadExchange(
        isChaff: waiting.upload.isChaff, duration: duration,
        answer: UploadExchange.Answer(head: head, body: body)))
    self.head = nil
    body.removeAll(keepingCapacity: true)
    if head.isKeepAlive { sendNext(context) } else { context.close(promise: nil) }
  }

  private func sendNext(_ context: ChannelHandlerContext) {
    guard let upload = ledger.take() else { return context.close(promise: nil) }
    var headers = headers
    headers.add(name: "content-length", value: String(upload.body.count))
    if upload.isChaff { headers.add(name: "x-chaff", value: "1") }
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: headers)
    waiting = (upload, .now)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(
      wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: upload.body)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
