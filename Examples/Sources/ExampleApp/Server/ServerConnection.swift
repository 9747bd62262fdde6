// SPDX-License-Identifier: Apache-2.0
import App
import Foundation

/// The app's connection to the server. Responses arrive asynchronously on the main queue.
final class ServerConnection: HealthAuthority {
  private let server: LocalServer
  /// If true, no request gets a response.
  private let isDead: Bool
  /// If true, the process is killed when the server has accepted an upload, before the app has the response.
  private let isKilledAfterPost: Bool

  init(to server: LocalServer, isDead: Bool, isKilledAfterPost: Bool = false) {
    self.server = server
    self.isDead = isDead
    self.isKilledAfterPost = isKilledAfterPost
  }

  func verify(code: String, completion: @escaping (Result<Bool, Error>) -> Void) {
    respond(completion) { server in server.isUnused(code) }
  }

  func post(_ keys: [PublishedKey], code: String, completion: @escaping (Error?) -> Void) {
    respond({ (result: Result<Void, Error>) in
      if case .failure(let error) = result { completion(error) } else { completion(nil) }
    }) { [isKilledAfterPost] server in
      try server.take(keys, code: code)
      if isKilledAfterPost { kill(getpid(), SIGKILL) }
    }
  }

  func keyFiles(from number: Int, completion: @escaping (Result<[Int], Error>) -> Void) {
    respond(completion) { server in server.fileNumbers(from: number) }
  }

  func download(keyFile number: Int, completion: @escaping (Result<URL, Error>) -> Void) {
    respond(completion) { server in try server.copy(ofFile: number) }
  }

  func criteria(completion: @escaping (Result<ExposureCriteria, Error>) -> Void) {
    respond(completion) { _ in try Self.readCriteria() }
  }

  /// The criteria of all servers of this example.
  static func readCriteria() throws -> ExposureCriteria {
    try JSONDecoder().decode(ExposureCriteria.self, from: Data(criteria.utf8))
  }

  /// Reports every match; shorter distance, longer duration and higher risk score more.
  private static let criteria = """
    {
      "minimumRiskScore": 0, "attenuationDurationThresholds": [50, 70],
      "attenuationLevelValues": [1, 2, 3, 4, 5, 6, 7, 8],
      "daysSinceLastExposureLevelValues": [1, 2, 3, 4, 5, 6, 7, 8],
      "durationLevelValues": [1, 2, 3, 4, 5, 6, 7, 8],
      "transmissionRiskLevelValues": [1, 2, 3, 4, 5, 6, 7, 8]
    }
    """

  private func respond<Value>(
    _ completion: @escaping (Result<Value, Error>) -> Void,
    _ work: @escaping (LocalServer) throws -> Value
  ) {
    guard !isDead else { return }
    DispatchQueue.main.async { [server] in completion(Result { try work(server) }) }
  }
}
