// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import NIOCore
import NIOHTTP1
import QuietHTTP
import World

/// The key files of another server: files on the disk, addresses of files, or of an index that lists files.
package struct KeyFileSource: Sendable {
  /// One key file.
  struct File: Sendable {
    /// The path or address.
    let name: String
    /// The name that an index lists; nil for other files.
    let listed: KeyFileName?
    let isRemote: Bool
    fileprivate let client: HTTPClient
  }

  private let places: [String]
  private let client: HTTPClient

  /// - Parameter places: Paths, and addresses that begin with `https://`, or with `http://` on this machine. An address
  ///   that ends with `.zip` is a file; others are an index, or the folder of `index.txt`.
  /// - Throws: `KeyImportFailure.badSource`.
  package init(
    _ places: [String], client: HTTPClient = .withoutRedirects
  ) throws(KeyImportFailure) {
    for place in places where Self.isAddress(place) {
      guard let url = URL(string: place), url.isOfServer else {
        throw .badSource(place, "an address needs a host, no user, and a port of 1 to 65535 if any")
      }
      guard url.isEncryptedOrLocal else {
        throw .badSource(place, "unencrypted: use https")
      }
    }
    self.places = places
    self.client = client
  }

  /// The files of all places. Those of an index are sorted, oldest first.
  func files() async throws(KeyImportFailure) -> [File] {
    var files: [File] = []
    for place in places {
      if !Self.isAddress(place) || place.hasSuffix(".zip") {
        files.append(
          File(name: place, listed: nil, isRemote: Self.isAddress(place), client: client))
      } else {
        files += try await listed(at: place)
      }
    }
    return files
  }

  /// The files of the index at the address `place`.
  func listed(at place: String) async throws(KeyImportFailure) -> [File] {
    let address = place.hasSuffix(".txt") ? place : place.trimmingSlash + "/index.txt"
    let body = try await client.body(of: address, bytesMax: KeyFileIndex.bytesMax)
    let lines = String(decoding: body, as: UTF8.self)
      .split { $0.isNewline }.filter { !$0.allSatisfy(\.isWhitespace) }
    var files: [(name: KeyFileName, address: String)] = []
    for line in lines {
      guard let name = KeyFileName(line.split(separator: "/").last ?? "") else {
        throw .badSource(address, "a line of the index is not the name of a key file")
      }
      files.append((name, Self.address(of: line, listedAt: address)))
    }
    return files.sorted { $0.name < $1.name }.map {
      File(name: $0.address, listed: $0.name, isRemote: true, client: client)
    }
  }

  /// The address of a line. In Google's layout it begins with the folder that the index is in.
  private static func address(of line: Substring, listedAt index: String) -> String {
    let folder = index.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let parts = line.split(separator: "/")
    let isOfParent =
      parts.count > 1
      && folder.suffix(parts.count - 1).elementsEqual(
        parts.dropLast())
    let base = isOfParent ? folder.dropLast(parts.count - 1) : folder
    return (base + parts).joined(separator: "/")
  }

  private static func isAddress(_ place: String) -> Bool {
    place.hasPrefix("https://") || place.hasPrefix("http://")
  }
}

extension KeyFileSource.File {
  /// The whole file, at most `KeyFileLimit.fileByteCountMax` bytes.
  func content() async throws(KeyImportFailure) -> [UInt8] {
    if isRemote {
      return try await client.body(of: name, bytesMax: KeyFileLimit.fileByteCountMax)
    }
    guard let file = FileHandle(forReadingAtPath: name) else {
      throw .badSource(name, "the file cannot be read")
    }
    let content: Data
    do { content = try file.read(upToCount: KeyFileLimit.fileByteCountMax + 1) ?? Data() } catch {
      throw .badSource(name, "the file cannot be read")
    }
    guard content.count <= KeyFileLimit.fileByteCountMax else {
      throw .invalid(name, "\(KeyFileError.tooLarge)")
    }
    return [UInt8](content)
  }
}

extension HTTPClient {
  /// The body of a GET request that succeeds.
  fileprivate func body(
    of address: String, bytesMax: Int
  ) async throws(KeyImportFailure) -> [UInt8] {
    do {
      let response = try await execute(
        HTTPClientRequest(url: address), timeout: .seconds(KeyServerLimit.importSeconds))
      guard response.status == .ok else {
        throw KeyImportFailure.unavailable(
          address, "the server responded with status \(response.status.code); try again later")
      }
      let body = try await response.body.collect(upTo: bytesMax)
      return [UInt8](buffer: body)
    } catch let failure as KeyImportFailure {
      throw failure
    } catch is NIOTooManyBytesError {
      throw .invalid(address, "more than \(bytesMax) bytes")
    } catch {
      throw .unavailable(address, "no response (\(ErrorCause.text(error))); try again later")
    }
  }
}

extension String {
  fileprivate var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
