// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// The credentials of an account of an object store.
package struct S3Credentials: Sendable, Redacted {
  let accessKeyID: String
  let secretAccessKey: String
  /// The token of temporary credentials.
  let sessionToken: String?

  package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
  }

  /// Reads a JSON file with `accessKeyID`, `secretAccessKey` and, for temporary credentials, `sessionToken`; if it does
  /// not exist, the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
  ///
  /// - Throws: `Invalid`, whose description names the file and no secret.
  package init(file: URL, environment: [String: String]) throws(Invalid) {
    guard FileManager.default.fileExists(atPath: file.path) else {
      guard let id = environment["AWS_ACCESS_KEY_ID"], !id.isEmpty,
        let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
      else {
        throw Invalid(
          "The object store needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write"
            + " \(file.path) with accessKeyID and secretAccessKey.")
      }
      self.init(
        accessKeyID: id, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
      return
    }
    let fields: Fields
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let rights = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
      guard rights & 0o077 == 0 else {
        throw Invalid("\(file.path) is readable by other users: chmod 600 it.")
      }
      fields = try JSONDecoder().decode(Fields.self, from: Data(contentsOf: file))
    } catch let error as Invalid {
      throw error
    } catch {
      throw Invalid(
        "\(file.path) cannot be read: it needs an object with accessKeyID and secretAccessKey.")
    }
    guard !fields.accessKeyID.isEmpty, !fields.secretAccessKey.isEmpty else {
      throw Invalid("\(file.path): accessKeyID and secretAccessKey must not be empty.")
    }
    self.init(
      accessKeyID: fields.accessKeyID, secretAccessKey: fields.secretAccessKey,
      sessionToken: fields.sessionToken)
  }

  private struct Fields: Decodable {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?
  }

  /// The reason why there are no credentials.
  package struct Invalid: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
  }
}
