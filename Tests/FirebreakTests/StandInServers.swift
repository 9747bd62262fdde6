// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server with the responses of a test, on a thread of its own.
final class StandInServer: Sendable {
  struct Request: Sendable {
    let path: String
    /// The values by lower-case name.
    let headers: [String: String]
    let body: Data
  }

  /// A response, chunked unless the headers have a length.
  struct Response: Sendable {
    var status = 200
    var headers: HTTPHeaders = [:]
    var body = ""
    /// If true, the connection is closed afterwards.
    var isLast = false
  }

  /// Returns `nil` to close the connection without a response.
  typealias Respond = @Sendable (Request) -> Response?

  let port: Int
  private let group: MultiThreadedEventLoopGroup

  var address: String { "http://127.0.0.1:\(port)" }

  init(_ respond: @escaping Respond) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(respond))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = channel.localAddress?.port ?? 0
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let respond: Respond
    private var requestHead: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ respond: @escaping Respond) {
      self.respond = respond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (requestHead, body) = (head, [])
      case .body(let bytes): body += bytes.readableBytesView
      case .end: send(context)
      }
    }

    private func send(_ context: ChannelHandlerContext) {
      guard let requestHead else { return }
      let headers = Dictionary(requestHead.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
      let request = Request(path: requestHead.uri, headers: headers, body: Data(body))
      guard let response = respond(request) else { return context.close(promise: nil) }
      let head = HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: response.status),
        headers: response.headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: response.body)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      if response.isLast { context.close(promise: nil) }
    }
  }
}

/// A stand-in for DeviceCheck or an SMS gateway, which records requests and has one response for all.
final class StandInAuthority: Sendable {
  struct Response: Sendable {
    var status = 200
    var body = ""
  }

  private final class State: Sendable {
    let values: Mutex<(requests: [StandInServer.Request], response: Response)>

    init(_ first: Response) { values = Mutex(([], first)) }
  }

  private let state: State
  private let server: StandInServer

  var requests: [StandInServer.Request] { state.values.withLock { $0.requests } }
  var address: String { server.address }

  func respond(with new: Response) { state.values.withLock { $0.response = new } }

  init(_ first: Response = Response()) throws {
    let state = State(first)
    self.state = state
    server = try StandInServer { request in
      let response = state.values.withLock { values in
        values.requests.append(request)
        return values.response
      }
      return StandInServer.Response(
        status: response.status, headers: ["content-length": "\(response.body.utf8.count)"],
        body: response.body)
    }
  }
}

/// A stand-in for a key server with `/v1/publish`, for the load generator.
final class StandInKeyServer: Sendable {
  enum Behaviour: Sendable {
    case correct
    /// Rejects the certificate as Google's server does.
    case refusing
    /// Responds with 200, but without one of the keys.
    case partial
    /// Closes the connection of every fifth request.
    case hangingUp
    /// Decoys get shorter responses.
    case shortDecoys
    /// Responses to decoys lack a header.
    case plainDecoys
    /// Closes the connection after each response.
    case closing
  }

  struct Upload: Sendable {
    let isChaff: Bool
    let path: String
    let body: Data
  }

  private final class State: Sendable {
    private let received = Mutex<[Upload]>([])

    var uploads: [Upload] { received.withLock { $0 } }

    /// Returns the number of uploads so far.
    func append(_ upload: Upload) -> Int {
      received.withLock { received in
        received.append(upload)
        return received.count
      }
    }
  }

  private let state: State
  private let server: StandInServer

  var port: Int { server.port }
  var uploads: [Upload] { state.uploads }
  var address: String { server.address }

  init(_ behaviour: Behaviour) throws {
    let state = State()
    self.state = state
    server = try StandInServer { request in
      let upload = Upload(
        isChaff: request.headers["x-chaff"] != nil, path: request.path, body: request.body)
      return behaviour.response(to: upload, number: state.append(upload))
    }
  }
}

extension StandInKeyServer.Behaviour {
  fileprivate func response(
    to upload: StandInKeyServer.Upload, number: Int
  ) -> StandInServer.Response? {
    if self == .hangingUp, number.isMultiple(of: 5) { return nil }
    var headers: HTTPHeaders = ["content-type": "application/json", "x-api-version": "v1"]
    if self == .plainDecoys, upload.isChaff { headers.remove(name: "x-api-version") }
    if self == .closing { headers.add(name: "connection", value: "close") }
    // The size varies and has no meaning.
    let padding = String(
      repeating: "x", count: (self == .shortDecoys && upload.isChaff ? 10 : 500) + number % 7)
    // Chunked, without a length, like the responses of Go's servers.
    return StandInServer.Response(
      status: self == .refusing ? 401 : 200, headers: headers,
      body: #"{\#(words(for: upload)),"padding":"\#(padding)"}"#, isLast: self == .closing)
  }

  private func words(for upload: StandInKeyServer.Upload) -> String {
    let body = try? JSONSerialization.jsonObject(with: upload.body) as? [String: Any]
    let count = (body?["temporaryExposureKeys"] as? [Any])?.count ?? 0
    return switch self {
    case .refusing:
      #""error":"no","code":"health_authority_verification_certificate_invalid""#
    case .partial: #""insertedExposures":\#(count - 1),"code":"partial_failure","error":"a key""#
    default: #""insertedExposures":\#(count),"revisionToken":"""#
    }
  }
}
