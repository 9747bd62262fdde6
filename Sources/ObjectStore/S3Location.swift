// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP

/// The place of objects: a bucket and the beginning of their names.
///
/// The text is `s3://BUCKET[/PREFIX][?region=R&endpoint=URL&style=S]`. Without `endpoint` it is Amazon S3. `style` is
/// `path`, the default with an endpoint, or `host`, the default without.
package struct S3Location: Hashable, Sendable {
  /// The text as errors and settings describe it.
  package static let form =
    "s3://BUCKET[/PREFIX][?region=REGION&endpoint=URL&style=path|host]; the endpoint by https, or http on this machine"

  package let bucket: String
  /// The beginning of all names, without a slash at either end; empty for none.
  package let prefix: String
  let region: String
  /// The scheme, host and port, without a slash at the end.
  let origin: String
  /// The value of the header `Host`.
  let host: String
  /// The path of the bucket, without a slash at the end; empty if the host names the bucket.
  let path: String

  /// - Throws: `Invalid`
  package init(_ text: String) throws(Invalid) {
    guard text.hasPrefix("s3://"), let parts = URLComponents(string: text), parts.user == nil,
      parts.port == nil, parts.fragment == nil, let bucket = parts.host, Self.isBucket(bucket),
      parts.path.utf8.allSatisfy(Self.isOfPath)
    else { throw Invalid() }
    let names = parts.path.split(separator: "/")
    guard !names.contains(".."), !names.contains("."), parts.path.utf8.count <= 512 else {
      throw Invalid()
    }
    var query: [String: String] = [:]
    for item in parts.queryItems ?? [] {
      guard ["region", "endpoint", "style"].contains(item.name), let value = item.value,
        query.updateValue(value, forKey: item.name) == nil
      else { throw Invalid() }
    }
    let region = query["region"] ?? "us-east-1"
    guard !region.isEmpty, region.utf8.allSatisfy(Self.isOfName) else { throw Invalid() }
    let isHost = (query["style"] ?? (query["endpoint"] == nil ? "host" : "path")) == "host"
    guard ["path", "host", nil].contains(query["style"]),
      let endpoint = URL(string: query["endpoint"] ?? "https://s3.\(region).amazonaws.com"),
      endpoint.isOfServer, endpoint.isEncryptedOrLocal, let scheme = endpoint.scheme,
      let server = endpoint.host, ["", "/"].contains(endpoint.path), endpoint.query == nil
    else { throw Invalid() }
    let isUsual = endpoint.port == nil || endpoint.port == (scheme == "https" ? 443 : 80)
    self.bucket = bucket
    self.region = region
    prefix = names.joined(separator: "/")
    host =
      (isHost ? "\(bucket)." : "") + server + (isUsual ? "" : ":\(endpoint.port ?? 0)")
    origin = "\(scheme)://\(host)"
    path = isHost ? "" : "/\(bucket)"
  }

  /// The bucket and the prefix, for messages.
  package var name: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

  private static func isBucket(_ text: String) -> Bool {
    (3...63).contains(text.utf8.count)
      && text.utf8.allSatisfy { isOfName($0) || $0 == UInt8(ascii: ".") }
  }

  /// Lower-case letters, digits and hyphens.
  private static func isOfName(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
  }

  private static func isOfPath(_ byte: UInt8) -> Bool {
    isOfName(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
  }

  /// The text is not the address of a bucket.
  package struct Invalid: Error, CustomStringConvertible {
    package var description: String {
      "The address of an object store has the form \(S3Location.form)."
    }
  }
}
