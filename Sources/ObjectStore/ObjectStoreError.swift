// SPDX-License-Identifier: Apache-2.0

/// The reason why a request to an object store failed. No text has a secret.
package enum ObjectStoreError: Error, Hashable, Sendable {
  /// The store has refused the request, with this status.
  case refused(String, Int)
  /// The store has another content than the one that it has acknowledged.
  case damaged(String)
  /// Another process has written the object meanwhile.
  case changed(String)
  /// The response is larger than expected.
  case tooLarge(String)
  /// The store did not respond in time, or with something else than an object store does.
  case unavailable
}

extension ObjectStoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .refused(let name, 403):
      "The object store refuses \(name) with status 403: check the credentials, their rights, the region and the clock."
    case .refused(let name, 404):
      "The object store has no place for \(name): create the bucket, and check its name."
    case .refused(let name, 400):
      "The object store refuses \(name) with status 400: check the region and the endpoint in its address, and that"
        + " temporary credentials have not expired."
    case .refused(let name, let status) where [301, 307].contains(status):
      "The object store refuses \(name) with status \(status): check the region and the endpoint in its address."
    case .refused(let name, let status):
      "The object store refuses \(name) with status \(status): check the bucket, its rights and the store."
    case .damaged(let name):
      "The object store does not have \(name) as it was written: it is written again at the next export."
    case .changed(let name):
      "Another process has written \(name) in the object store: the next export compares both."
    case .tooLarge(let name):
      "\(name) in the object store is larger than expected: check who writes to the bucket."
    case .unavailable:
      "The object store does not respond: check its address, the network and the store."
    }
  }
}

/// The limits of requests to an object store.
package enum ObjectStoreLimit {
  /// The timeout of a request, in seconds. It is less than the time of a lease for exports.
  package static let timeoutSeconds: Int64 = 30
  /// The pauses before a request that failed is repeated, in seconds.
  package static let retryPauses: [Double] = [0.5, 2]
  /// The largest page of a list of objects, in bytes; a page has at most 1,000 names.
  package static let listBytesMax = 4 << 20
  /// The maximum number of pages of a list.
  package static let pagesMax = 100
}
