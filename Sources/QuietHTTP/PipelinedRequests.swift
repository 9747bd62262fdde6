// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import NIOCore
import NIOHTTP1

/// Passes on one request of a connection at a time: the next one waits until the response to the previous one
/// is in the system's send buffer.
///
/// A client that sends many requests and reads no response would otherwise fill the memory with responses.
/// While a response is pending, nothing is read from the connection. The requests of the last read are held
/// up to `QuietLimit.pipelinedRequestsMax`; the others are discarded, and the connection closes after the
/// responses to the held ones. The client sends them again (RFC 9112, 9.3.2).
final class PipelinedRequests: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let connections: OpenConnections
  private let load: ServerLoad
  private let unchanged: UnchangedResponses?
  /// True from the head to the end of the current request.
  private var isReceiving = false
  /// True from the head of the current request until its response was sent.
  private var isResponding = false
  private var held = HeldRequests()
  private var isReadPending = false

  /// - Parameter unchanged: The handler of requests that get their response on the event loop; nil for none.
  init(_ connections: OpenConnections, _ load: ServerLoad, _ unchanged: UnchangedResponses?) {
    self.load = load
    self.connections = connections
    self.unchanged = unchanged
  }

  /// Closes the connection if it has no request.
  func closeIfIdle(_ channel: any Channel) {
    if isIdle { channel.close(promise: nil) }
  }

  private var isIdle: Bool { !isReceiving && !isResponding && held.isEmpty }

  /// True if the current request is complete and its response is not.
  private var isWaiting: Bool { isResponding && !isReceiving }

  // MARK: - From the client

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if isWaiting || held.isFull { held.append(.part(part)) } else { pass(part, data, context) }
  }

  func read(context: ChannelHandlerContext) {
    if isWaiting || held.isFull {
      isReadPending = true
    } else {
      context.read()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isWaiting || held.isFull {
      held.append(.error(error))
    } else {
      context.fireErrorCaught(error)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: stop(context)
    case ChannelEvent.inputClosed where !held.isEmpty:
      held.append(.inputClosed)
      return
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Stops the connection: held requests are discarded, and a request that is not complete in
  /// `QuietLimit.unfinishedRequestSeconds` is cut off.
  private func stop(_ context: ChannelHandlerContext) {
    if isWaiting { held.discardAll() }
    guard isReceiving else { return }
    let limit = TimeAmount.seconds(Int64(QuietLimit.unfinishedRequestSeconds))
    context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [self] in
      if isReceiving { context.close(promise: nil) }
    }
  }

  /// - Parameter data: `part` as it was received, so that it is not wrapped again.
  private func pass(
    _ part: HTTPServerRequestPart, _ data: NIOAny, _ context: ChannelHandlerContext
  ) {
    switch part {
    case .head:
      (isReceiving, isResponding) = (true, true)
      connections.beginRequest(ObjectIdentifier(context.channel))
    case .body: break
    case .end:
      isReceiving = false
      // A request that gets its response at once is not processed, and says nothing about the rate of others.
      guard isResponding, unchanged?.willRespond != true else { break }
      load.begin(
        ObjectIdentifier(context.channel), waited: context.channel.timeSinceReceipt)
    }
    // A response that is sent while the end is passed on makes the connection idle itself.
    let wasSent = !isResponding
    context.fireChannelRead(data)
    if wasSent, isIdle { becomeIdle(context) }
  }

  // MARK: - To the client

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    if case .head(let head) = part, head.status.code >= 200, unchanged?.willRespond != true {
      load.end(ObjectIdentifier(context.channel))
    }
    guard case .end = part else { return context.write(data, promise: promise) }
    let sent = promise ?? context.eventLoop.makePromise()
    sent.futureResult.assumeIsolated().whenSuccess { [self] in responseWasSent(context) }
    context.write(data, promise: sent)
  }

  private func responseWasSent(_ context: ChannelHandlerContext) {
    isResponding = false
    if !held.isEmpty { passHeld(context) }
    if isIdle { becomeIdle(context) }
    if isReadPending, !isWaiting, !held.isFull {
      isReadPending = false
      context.read()
    }
  }

  private func passHeld(_ context: ChannelHandlerContext) {
    while !isWaiting, let next = held.popFirst() {
      switch next {
      case .part(let part): pass(part, wrapInboundOut(part), context)
      case .error(let error): context.fireErrorCaught(error)
      case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      }
    }
    context.fireChannelReadComplete()
  }

  private func becomeIdle(_ context: ChannelHandlerContext) {
    let channel = context.channel
    if held.isFull { return finish(channel) }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    connections.endRequest(ObjectIdentifier(channel)) {
      channel.eventLoop.execute { handler.value.closeIfIdle(channel) }
    }
  }

  /// Closes the connection in two steps, so that the client can read the responses (RFC 9112, 9.6).
  private func finish(_ channel: any Channel) {
    channel.close(mode: .output, promise: nil)
    channel.eventLoop.scheduleTask(in: .seconds(Int64(QuietLimit.lingerSeconds))) {
      channel.close(promise: nil)
    }
  }
}

/// The parts of requests that wait for the response to the one before them.
struct HeldRequests {
  enum Element {
    case part(HTTPServerRequestPart)
    case error(any Error)
    case inputClosed
  }

  private var elements = CircularBuffer<Element>()
  private var requests = 0
  private var bytes = 0
  /// True if requests were discarded. Then all further ones are.
  private(set) var isFull = false

  var isEmpty: Bool { elements.isEmpty }

  mutating func append(_ element: Element) {
    guard !isFull else { return }
    elements.append(element)
    count(element, 1)
    guard requests > QuietLimit.pipelinedRequestsMax || bytes > QuietLimit.pipelinedBytesMax
    else { return }
    isFull = true
    // The last request, of which the rest is not known.
    while let last = elements.popLast() {
      if case .part(.head) = last { return }
    }
  }

  mutating func discardAll() {
    elements.removeAll()
    isFull = true
  }

  mutating func popFirst() -> Element? {
    let first = elements.popFirst()
    if let first { count(first, -1) }
    return first
  }

  private mutating func count(_ element: Element, _ sign: Int) {
    switch element {
    case .part(.head): requests += sign
    case .part(.body(let buffer)): bytes += sign * buffer.readableBytes
    default: break
    }
  }
}

/// Applies the rules of HTTP/1.1 that need the version of a request, which the HTTP library drops.
///
/// - A request without exactly one `Host` is rejected (RFC 9112, 3.2), because a proxy could route it differently.
///   `Host` is optional in HTTP/1.0.
/// - A request whose body has no certain end is rejected (RFC 9112, 6.1 and 6.3), for the same reason.
/// - A client that waits for `100 Continue` gets it when a route begins to read the body (RFC 9110, 10.1.1).
/// - Status lines of responses with a body have no reason phrase, whose length would reveal the status (RFC 9112, 4).
/// - The connection is closed after a request of HTTP/1.0, whose clients read until the end, or with
///   `Connection: close` in any spelling (RFC 9112, 9.3).
///
/// Each refusal of the parser is logged as a request without method and path.
final class RequestHeads: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let logger: Logger
  private var isRefused = false
  private var expectsContinue = false

  init(logger: Logger) {
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRefused else { return }
    guard case .head(var head) = unwrapInboundIn(data) else {
      context.fireChannelRead(data)
      return
    }
    guard head.hasValidHost else {
      return errorCaught(context: context, error: InvalidHead.invalidHost)
    }
    guard head.hasValidBodyLength else {
      return errorCaught(context: context, error: InvalidHead.invalidBodyLength)
    }
    expectsContinue =
      head.version == .http1_1
      && head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    guard head.version == .http1_0 || !head.isKeepAlive else {
      return context.fireChannelRead(data)
    }
    head.headers.replaceOrAdd(name: "connection", value: "close")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is HTTPParserError, is InvalidHead:
      isRefused = true
      // The cases have no content of the request.
      logger.info("- - 400", metadata: ["cause": "\(error)"])
      // The HTTP library answers these errors with 400 and closes the connection.
      context.fireErrorCaught(error is InvalidHead ? HTTPParserError.invalidHeaderToken : error)
    default: context.fireErrorCaught(error)
    }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is ReadsBody else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    if expectsContinue {
      let head = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }
    expectsContinue = false
    promise?.succeed()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // `100 Continue` must not be sent after the response.
    expectsContinue = false
    guard case .head(var head) = unwrapOutboundIn(data), head.status.mayHaveResponseBody else {
      return context.write(data, promise: promise)
    }
    head.status = .custom(code: head.status.code, reasonPhrase: "")
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  /// The event that a route begins to read the body.
  struct ReadsBody: Sendable {}

  private enum InvalidHead: Error {
    case invalidHost, invalidBodyLength
  }
}

extension HTTPRequestHead {
  fileprivate var hasValidHost: Bool {
    let hosts = headers["host"]
    if hosts.isEmpty { return version != .http1_1 }
    return hosts.count == 1 && !hosts[0].utf8.contains(UInt8(ascii: ","))
  }

  /// False if a proxy could see another end of the body: with a length beside a transfer encoding, two lengths, or a
  /// transfer encoding other than `chunked` alone, which is the only one that servers must know.
  fileprivate var hasValidBodyLength: Bool {
    let (encodings, lengths) = (headers["transfer-encoding"], headers["content-length"])
    guard encodings.isEmpty else {
      return version == .http1_1 && lengths.isEmpty && encodings.count == 1
        && encodings[0].trimmingCharacters(in: .whitespaces).lowercased() == "chunked"
    }
    return lengths.count <= 1
      && lengths.allSatisfy { length in
        !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
      }
  }
}
