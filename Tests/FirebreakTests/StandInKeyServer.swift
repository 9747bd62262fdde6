import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server that speaks `/v1/publish` as far as a load generator can see. It lives on a thread of its
/// own, so that a test may wait for a process that talks to it.
final class StandInKeyServer: Sendable {
  /// How it answers.
  enum Manner: Sendable {
    case asItShould
    /// As Google's server refuses a certificate.
    case refusing
    /// With 200, but one key was left out.
    case partly
    /// Goes away in the middle of every fifth answer.
    case hangingUp
    /// Decoys get an answer that is shorter.
    case shortDecoys
    /// Decoys lack a header.
    case plainDecoys
    /// Says good-bye with every answer.
    case closing
  }

  /// What was uploaded.
  struct Upload: Sendable {
    let isChaff: Bool
    let path: String
    let body: Data
  }

  let port: Int
  private let received: Mutex<[Upload]>
  private let group: MultiThreadedEventLoopGroup

  var uploads: [Upload] { received.withLock { $0 } }
  var address: String { "http://127.0.0.1:\(port)" }

  init(_ manner: Manner) throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let box = Box()
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Desk(manner, box))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    self.group = group
    port = channel.localAddress?.port ?? 0
    received = Mutex([])
    box.server.withLock { $0 = WeakServer(server: self) }
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  private func receive(_ upload: Upload) -> Int {
    received.withLock { received in
      received.append(upload)
      return received.count
    }
  }

  private struct WeakServer: Sendable {
    weak let server: StandInKeyServer?
  }

  private final class Box: Sendable {
    let server = Mutex(WeakServer(server: nil))
  }

  /// Reads one request after another and answers each.
  private final class Desk: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let manner: Manner
    private let box: Box
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ manner: Manner, _ box: Box) {
      self.manner = manner
      self.box = box
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (self.head, body) = (head, [])
      case .body(let bytes): body += bytes.readableBytesView
      case .end: answer(context)
      }
    }

    private func answer(_ context: ChannelHandlerContext) {
      guard let head, let server = box.server.withLock({ $0.server }) else { return }
      let upload = Upload(
        isChaff: head.headers.contains(name: "x-chaff"), path: head.uri, body: Data(body))
      let number = server.receive(upload)
      if manner == .hangingUp, number.isMultiple(of: 5) { return context.close(promise: nil) }
      let status: HTTPResponseStatus = manner == .refusing ? .unauthorized : .ok
      var headers: HTTPHeaders = ["content-type": "application/json", "x-api-version": "v1"]
      if manner == .plainDecoys, upload.isChaff { headers.remove(name: "x-api-version") }
      if manner == .closing { headers.add(name: "connection", value: "close") }
      // Sizes differ from answer to answer and say nothing.
      let padding = String(
        repeating: "x", count: (manner == .shortDecoys && upload.isChaff ? 10 : 500) + number % 7)
      let text = #"{\#(words(for: upload)),"padding":"\#(padding)"}"#
      // Chunked, as Go's servers answer: no length is given.
      context.write(
        wrapOutboundOut(
          .head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
        promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      if manner == .closing { context.close(promise: nil) }
    }

    private func words(for upload: Upload) -> String {
      let body = try? JSONSerialization.jsonObject(with: upload.body) as? [String: Any]
      let count = (body?["temporaryExposureKeys"] as? [Any])?.count ?? 0
      return switch manner {
      case .refusing:
        #""error":"no","code":"health_authority_verification_certificate_invalid""#
      case .partly: #""insertedExposures":\#(count - 1),"code":"partial_failure","error":"a key""#
      default: #""insertedExposures":\#(count),"revisionToken":"""#
      }
    }
  }
}
