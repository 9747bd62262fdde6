// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import Logging
import NIOCore

/// An object store with one bucket on the loopback interface. It checks signatures as Amazon S3 does, without the code
/// that makes them, and can be told to fail.
public actor S3TestServer {
  /// A fault instead of the response.
  public enum Fault: Hashable, Sendable {
    case status(Int)
    /// Stores the first half of an object, and acknowledges it.
    case truncates
    /// Acknowledges an object without storing it.
    case forgets
    /// Does not respond.
    case silent
  }

  private struct Order {
    let fault: Fault
    let method: String
    let suffix: String
    var times: Int
  }

  public static let accessKeyID = "AKIATEST"
  public static let secretAccessKey = "not a real secret"
  public static let bucket = "key-files"

  /// The objects by their names.
  public private(set) var objects: [String: Data] = [:]
  /// The methods and names of all requests with a valid signature.
  public private(set) var requests: [String] = []
  /// The number of requests without a valid signature.
  public private(set) var refusedCount = 0
  private var orders: [Order] = []
  private var hasConditions = true
  private var pageSize = 1_000
  private var port = 0
  private let now: @Sendable () -> Date
  private var observer: (@Sendable ([String: Data]) -> Void)?

  private init(now: @escaping @Sendable () -> Date) { self.now = now }

  /// The address of the bucket for objects that begin with `prefix`.
  public func address(_ prefix: String) -> String {
    "s3://\(Self.bucket)/\(prefix)?region=eu-test-1&endpoint=http://127.0.0.1:\(port)"
  }

  /// Lets requests with this method for names that end with `suffix` fail this many times.
  public func fail(_ fault: Fault, _ method: String, of suffix: String = "", times: Int = .max) {
    orders.append(Order(fault: fault, method: method, suffix: suffix, times: times))
  }

  /// Ends all faults.
  public func recover() { orders = [] }

  /// Answers requests with a condition with 501 from now on.
  public func implementNoConditions() { hasConditions = false }

  /// Lists at most this many objects in one response.
  public func list(atMost count: Int) { pageSize = count }

  /// Replaces an object, or removes it, as another program does.
  public func set(_ name: String, _ content: Data?) { objects[name] = content }

  /// Calls `work` with all objects after each request that may have changed one.
  public func observe(_ work: @escaping @Sendable ([String: Data]) -> Void) { observer = work }

  /// Runs `body` with a server.
  ///
  /// - Parameters:
  ///   - now: The time of the server, from which that of a request may differ by 15 minutes.
  ///   - body: The use of the server.
  public static func run(
    now: @escaping @Sendable () -> Date = { Date() }, _ body: (S3TestServer) async throws -> Void
  ) async throws {
    let server = S3TestServer(now: now)
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let router = Router()
    for method in [HTTPRequest.Method.get, .put, .delete] {
      router.on("**", method: method) { request, _ in try await server.respond(to: request) }
    }
    var logger = Logger(label: "S3 test server")
    logger.logLevel = .critical
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let running = Task { try await application.run() }
    for await port in ports {
      await server.listens(on: port)
      break
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body(server)) } catch { result = .failure(error) }
    // Stopping a server while it accepts a connection traps in SwiftNIO: after this response none is pending.
    _ = try? await LoopbackClient.send("GET", "http://127.0.0.1:\(server.port)/")
    running.cancel()
    _ = await running.result
    try result.get()
  }

  private func listens(on port: Int) { self.port = port }

  private func respond(to request: Request) async throws -> Response {
    let body = Data(try await request.body.collect(upTo: 32 << 20).readableBytesView)
    guard S3Signature(request, body: body)?.isValid(at: now()) == true else {
      refusedCount += 1
      return Self.error(403, "SignatureDoesNotMatch")
    }
    let start = "/\(Self.bucket)/"
    guard request.uri.path.hasPrefix(start) else { return Self.error(404, "NoSuchBucket") }
    let name = String(request.uri.path.dropFirst(start.count))
    let method = request.method.rawValue
    requests.append("\(method) \(name)")
    let fault = takeFault(method, name)
    switch fault {
    case .status(let status): return Self.error(status, "Fault")
    case .silent: try await Task.sleep(for: .seconds(3_600))
    default: break
    }
    switch method {
    case "PUT":
      let response = put(body, as: name, request, fault)
      observer?(objects)
      return response
    case "DELETE":
      objects[name] = nil
      observer?(objects)
      return Response(status: .noContent)
    default:
      if name.isEmpty { return list(request) }
      guard let content = objects[name] else { return Self.error(404, "NoSuchKey") }
      return Response(
        status: .ok, headers: [.eTag: Self.tag(content)],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: content)))
    }
  }

  private func takeFault(_ method: String, _ name: String) -> Fault? {
    guard
      let index = orders.firstIndex(where: {
        $0.method == method && name.hasSuffix($0.suffix) && $0.times > 0
      })
    else { return nil }
    orders[index].times -= 1
    return orders[index].fault
  }

  private func put(_ body: Data, as name: String, _ request: Request, _ fault: Fault?) -> Response {
    let (isNew, tag) = (request.headers[.ifNoneMatch] == "*", request.headers[.ifMatch])
    if isNew || tag != nil {
      guard hasConditions else { return Self.error(501, "NotImplemented") }
      if isNew, objects[name] != nil { return Self.error(412, "PreconditionFailed") }
      if let tag {
        guard let stored = objects[name] else { return Self.error(404, "NoSuchKey") }
        guard Self.tag(stored) == tag else { return Self.error(412, "PreconditionFailed") }
      }
    }
    let checksum = request.headers.first { $0.name.canonicalName == "x-amz-checksum-sha256" }?.value
    if let checksum, checksum != Data(SHA256.hash(data: body)).base64EncodedString() {
      return Self.error(400, "BadDigest")
    }
    switch fault {
    case .truncates: objects[name] = body.prefix(body.count / 2)
    case .forgets: break
    default: objects[name] = body
    }
    return Response(status: .ok, headers: [.eTag: Self.tag(body)])
  }

  private func list(_ request: Request) -> Response {
    let query = request.uri.queryParameters
    let prefix = query["prefix"].map(String.init) ?? ""
    let after = query["continuation-token"].map(String.init) ?? ""
    let names = objects.keys.filter { $0.utf8.starts(with: prefix.utf8) && $0 > after }.sorted()
    let page = names.prefix(pageSize)
    let entries = page.map {
      "<Contents><Key>\($0)</Key><Size>\(objects[$0]?.count ?? 0)</Size></Contents>"
    }
    let next =
      page.count < names.count
      ? "<NextContinuationToken>\(page.last ?? "")</NextContinuationToken>" : ""
    let text = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3\">\(next)"
    return Response(
      status: .ok, headers: [.contentType: "application/xml"],
      body: ResponseBody(
        byteBuffer: ByteBuffer(string: text + entries.joined() + "</ListBucketResult>")))
  }

  private static func tag(_ content: Data) -> String {
    "\"\(Data(SHA256.hash(data: content)).prefix(16).base64EncodedString())\""
  }

  /// As long as those of stores, which is more than a small object.
  private static func error(_ status: Int, _ code: String) -> Response {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <Error><Code>\(code)</Code><Message>The request of this object has failed.</Message>\
      <RequestId>4442587FB7D0A2F9</RequestId><HostId>store</HostId></Error>
      """
    return Response(
      status: .init(code: status), headers: [.contentType: "application/xml"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

/// The signature of a request, version 4.
private struct S3Signature {
  private let request: Request
  private let body: Data
  private let scope: [String]
  private let names: [String]
  private let signature: String

  /// Nil if the request has no signature of the account.
  init?(_ request: Request, body: Data) {
    let start = "AWS4-HMAC-SHA256 "
    guard let header = request.headers[.authorization], header.hasPrefix(start) else { return nil }
    var fields: [String: String] = [:]
    for part in header.dropFirst(start.count).split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { return nil }
      fields[pair[0].trimmingCharacters(in: .whitespaces)] = String(pair[1])
    }
    let credential = (fields["Credential"] ?? "").split(separator: "/").map(String.init)
    guard credential.count == 5, credential[0] == S3TestServer.accessKeyID,
      let names = fields["SignedHeaders"], let signature = fields["Signature"]
    else { return nil }
    (self.request, self.body, self.signature) = (request, body, signature)
    scope = Array(credential.dropFirst())
    self.names = names.split(separator: ";").map(String.init)
  }

  func isValid(at now: Date) -> Bool {
    guard let time = value("x-amz-date"), scope[0] == String(time.prefix(8)), scope[2] == "s3",
      scope[3] == "aws4_request", isNear(time, now),
      names.contains("host"), names.contains("x-amz-date"), names == names.sorted()
    else { return false }
    let hash = Self.hexadecimal(SHA256.hash(data: body))
    guard value("x-amz-content-sha256") == hash else { return false }
    let query = (request.uri.query ?? "").split(separator: "&").sorted().joined(separator: "&")
    let headers = names.map { "\($0):\(value($0) ?? "")\n" }.joined()
    let canonical = [
      request.method.rawValue, request.uri.path, query, headers, names.joined(separator: ";"), hash,
    ].joined(separator: "\n")
    let text = [
      "AWS4-HMAC-SHA256", time, scope.joined(separator: "/"),
      Self.hexadecimal(SHA256.hash(data: Data(canonical.utf8))),
    ].joined(separator: "\n")
    var key = SymmetricKey(data: Data("AWS4\(S3TestServer.secretAccessKey)".utf8))
    for part in scope {
      key = SymmetricKey(
        data: Data(HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key)))
    }
    return Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
      == signature
  }

  private func value(_ name: String) -> String? {
    if name == "host" { return request.head.authority }
    return request.headers.first { $0.name.canonicalName == name }?.value
  }

  private func isNear(_ time: String, _ now: Date) -> Bool {
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    guard let date = try? style.parse(time) else { return false }
    return abs(date.timeIntervalSince(now)) <= 15 * 60
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}
