// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import World

/// The objects of a bucket whose names begin with a prefix, in S3 or a store with its interface.
///
/// A stored object is read back and compared before `put` returns: stores were seen that truncate a write, or
/// acknowledge it before they have it.
package struct S3Bucket: Sendable {
  /// An object with its version.
  package struct Object: Hashable, Sendable {
    package let content: Data
    /// The entity tag; nil if the store states none.
    package let tag: String?
  }

  /// The condition under which an object is written. A store that does not implement conditions writes it anyway.
  package enum Condition: Hashable, Sendable {
    case always
    /// There is no object with this name.
    case isNew
    /// The object has this tag.
    case replaces(String)
  }

  private let location: S3Location
  private let signature: SignatureV4
  private let client: HTTPClient
  private let clock: any WallClock
  private let timeoutSeconds: Int64
  private let retryPauses: [Double]

  package init(
    _ location: S3Location, credentials: S3Credentials, client: HTTPClient, clock: any WallClock,
    timeoutSeconds: Int64 = ObjectStoreLimit.timeoutSeconds,
    retryPauses: [Double] = ObjectStoreLimit.retryPauses
  ) {
    self.location = location
    signature = SignatureV4(credentials: credentials, region: location.region)
    self.client = client
    self.clock = clock
    self.timeoutSeconds = timeoutSeconds
    self.retryPauses = retryPauses
  }

  /// Stores an object, and checks that the store has it.
  ///
  /// - Throws: `ObjectStoreError`; `.changed` if the condition does not hold and the store has another content. After
  ///   other errors the object may be missing, or have its earlier or the new content.
  package func put(
    _ content: Data, as name: String, type: String, cacheControl: String,
    if condition: Condition = .always
  ) async throws(ObjectStoreError) {
    var headers = [
      "content-type": type, "cache-control": cacheControl,
      "x-amz-checksum-sha256": Data(SHA256.hash(data: content)).base64EncodedString(),
    ]
    switch condition {
    case .always: break
    case .isNew: headers["if-none-match"] = "*"
    case .replaces(let tag): headers["if-match"] = tag
    }
    var response = try await send("PUT", name, body: content, headers: headers)
    if response.status == 501, condition != .always {
      headers["if-none-match"] = nil
      headers["if-match"] = nil
      response = try await send("PUT", name, body: content, headers: headers)
    }
    let isChanged = [404, 409, 412].contains(response.status) && condition != .always
    guard response.status == 200 || isChanged else { throw .refused(name, response.status) }
    // A repeated request may have found what the first one has stored.
    guard try await stored(name, bytesMax: content.count) != content else { return }
    throw isChanged ? .changed(name) : .damaged(name)
  }

  /// The content of an object; nil if there is none, or a larger one.
  private func stored(_ name: String, bytesMax: Int) async throws(ObjectStoreError) -> Data? {
    do { return try await get(name, bytesMax: bytesMax)?.content } catch .tooLarge { return nil }
  }

  /// Returns an object; nil if there is none.
  package func get(_ name: String, bytesMax: Int) async throws(ObjectStoreError) -> Object? {
    let response = try await send("GET", name, bytesMax: bytesMax)
    guard response.status != 404 else { return nil }
    try response.expect(200, name)
    return Object(content: response.body, tag: response.headers.first(name: "etag"))
  }

  /// Removes an object, unless there is none.
  package func remove(_ name: String) async throws(ObjectStoreError) {
    let response = try await send("DELETE", name)
    guard [200, 204, 404].contains(response.status) else {
      throw .refused(name, response.status)
    }
  }

  /// Returns the sizes of all objects in bytes, by their names without the prefix of the bucket.
  package func sizes() async throws(ObjectStoreError) -> [String: Int] {
    var sizes: [String: Int] = [:]
    var token: String?
    for _ in 0..<ObjectStoreLimit.pagesMax {
      var query = [(name: "list-type", value: "2"), (name: "prefix", value: key(""))]
      if let token { query.append((name: "continuation-token", value: token)) }
      let response = try await send("GET", nil, query: query)
      try response.expect(200, location.name)
      let page = try ObjectList(response.body)
      for (key, size) in page.sizes {
        // By bytes: a mark at the beginning of the name would be one character with the slash.
        let name = key.utf8.dropFirst(self.key("").utf8.count)
        sizes[String(decoding: name, as: UTF8.self)] = size
      }
      token = page.continuation
      if token == nil { return sizes }
    }
    throw .tooLarge("the list of \(location.name)")
  }

  /// The name of an object in the bucket.
  private func key(_ name: String) -> String {
    location.prefix.isEmpty ? name : "\(location.prefix)/\(name)"
  }

  private struct Response {
    let status: Int
    let headers: HTTPHeaders
    let body: Data

    func expect(_ expected: Int, _ name: String) throws(ObjectStoreError) {
      guard status == expected else { throw .refused(name, status) }
    }

    /// True if the store may answer another way soon.
    var isPassing: Bool { status == 429 || status >= 500 && status != 501 }
  }

  /// Sends a request, and repeats it if it fails for a reason that may pass. All requests of this type may be repeated.
  ///
  /// - Parameter name: The object; nil for the bucket.
  private func send(
    _ method: String, _ name: String?, query: [(name: String, value: String)] = [],
    body: Data = Data(), headers: [String: String] = [:],
    bytesMax: Int = ObjectStoreLimit.listBytesMax
  ) async throws(ObjectStoreError) -> Response {
    for pause in retryPauses {
      do {
        let response = try await sendOnce(method, name, query, body, headers, bytesMax)
        if !response.isPassing { return response }
      } catch .unavailable {}
      do { try await clock.sleep(for: pause) } catch { throw .unavailable }
    }
    return try await sendOnce(method, name, query, body, headers, bytesMax)
  }

  private func sendOnce(
    _ method: String, _ name: String?, _ query: [(name: String, value: String)], _ body: Data,
    _ headers: [String: String], _ bytesMax: Int
  ) async throws(ObjectStoreError) -> Response {
    let path = location.path + "/" + (name.map(key) ?? "")
    let signed = signature.signedHeaders(
      of: SignatureV4.Request(
        method: method, path: path, query: query,
        headers: headers.merging(["host": location.host]) { $1 },
        payloadHash: SignatureV4.hash(body)), at: clock.now)
    var request = HTTPClientRequest(
      url: location.origin + SignatureV4.encoded(path, keeping: "/")
        + (query.isEmpty ? "" : "?" + SignatureV4.query(query)))
    request.method = HTTPMethod(rawValue: method)
    for (name, value) in signed where name != "host" {
      request.headers.add(name: name, value: value)
    }
    if method == "PUT" { request.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      let response = try await client.execute(request, timeout: .seconds(timeoutSeconds))
      // The description of an error may be longer than the object.
      let limit = response.status == .ok ? bytesMax : ObjectStoreLimit.listBytesMax
      let content = Data(try await response.body.collect(upTo: limit).readableBytesView)
      return Response(
        status: Int(response.status.code), headers: response.headers, body: content)
    } catch is NIOTooManyBytesError {
      throw .tooLarge(name ?? location.name)
    } catch {
      throw .unavailable
    }
  }
}

/// A page of a list of objects, in XML.
private struct ObjectList {
  private(set) var sizes: [(key: String, size: Int)] = []
  private(set) var continuation: String?

  init(_ body: Data) throws(ObjectStoreError) {
    guard body.range(of: Data("<ListBucketResult".utf8)) != nil else { throw .unavailable }
    for entry in Self.values(of: "Contents", in: body) {
      guard let key = Self.values(of: "Key", in: entry).first,
        let size = Self.values(of: "Size", in: entry).first.flatMap({ Int(Self.plain($0)) })
      else { throw .unavailable }
      sizes.append((Self.plain(key), size))
    }
    let token = Self.values(of: "NextContinuationToken", in: body).first
    continuation = token.map(Self.plain)
  }

  /// The contents of all elements with this name. Lists of objects have no attributes in these elements, and no
  /// element inside another one of its name.
  private static func values(of element: String, in text: Data) -> [Data] {
    let (start, end) = (Data("<\(element)>".utf8), Data("</\(element)>".utf8))
    var (values, rest): ([Data], Data) = ([], text)
    while let opening = rest.range(of: start),
      let closing = rest[opening.upperBound...].range(of: end)
    {
      values.append(rest[opening.upperBound..<closing.lowerBound])
      rest = rest[closing.upperBound...]
    }
    return values
  }

  private static func plain(_ value: Data) -> String {
    let entities = [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&"),
    ]
    return entities.reduce(String(decoding: value, as: UTF8.self)) {
      $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal)
    }
  }
}
