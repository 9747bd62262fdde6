// SPDX-License-Identifier: Apache-2.0
import App
import Foundation
import KeyServerAPI
import VerificationAPI

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The app's connection to Firebreak's servers, with the contract of ProteGO Safe. Responses arrive on the main queue.
final class FirebreakServers: HealthAuthority {
  /// The addresses of the servers.
  struct Addresses {
    let verification: URL
    let keys: URL
  }

  private let addresses: Addresses
  private let session = URLSession(configuration: .ephemeral)
  /// The names of the listed key files by their numbers.
  private var names: [Int: String] = [:]

  init(at addresses: Addresses) {
    self.addresses = addresses
  }

  /// The server checks a code together with the keys, so that no code is used up without an upload.
  func verify(code: String, completion: @escaping (Result<Bool, Error>) -> Void) {
    DispatchQueue.main.async { completion(.success(true)) }
  }

  /// Exchanges the code for a token, then uploads the keys with the token.
  ///
  /// The servers give the same responses to the same requests, so a lost response costs nothing.
  func post(_ keys: [PublishedKey], code: String, completion: @escaping (Error?) -> Void) {
    let request = TokenRequest(data: .init(code: code))
    post(request, to: addresses.verification, VerificationRoute.accessToken) { [self] result in
      do {
        let response = try JSONDecoder().decode(TokenResponse.self, from: try result.get())
        upload(keys, token: response.result.accessToken, completion)
      } catch {
        completion(error)
      }
    }
  }

  private func upload(
    _ keys: [PublishedKey], token: String, _ completion: @escaping (Error?) -> Void
  ) {
    let payload = UploadPayload(
      temporaryExposureKeys: keys.map {
        UploadKey(
          key: $0.keyData.base64EncodedString(), rollingPeriod: $0.rollingPeriod,
          rollingStartNumber: $0.rollingStartNumber,
          transmissionRisk: Int($0.transmissionRiskLevel))
      }, regions: [LocalServer.region.name], platform: "android",
      appPackageName: ExampleApp.bundleIdentifier, verificationPayload: token)
    post(UploadRequest(data: payload), to: addresses.keys, KeyServerRoute.upload) { result in
      if case .failure(let error) = result { completion(error) } else { completion(nil) }
    }
  }

  /// A file is numbered by the end of its period.
  func keyFiles(from number: Int, completion: @escaping (Result<[Int], Error>) -> Void) {
    get(KeyServerRoute.index) { [self] result in
      completion(
        result.map { text in
          let listed = KeyFileIndex.parse(String(decoding: text, as: UTF8.self)).names
          names = Dictionary(listed.map { (Int($0.endTimestamp), $0.text) }) { $1 }
          return names.keys.filter { $0 >= number }.sorted()
        })
    }
  }

  func download(keyFile number: Int, completion: @escaping (Result<URL, Error>) -> Void) {
    get("/\(names[number] ?? "")") { result in
      completion(
        result.flatMap { content in
          Result {
            let file = FileManager.default.temporaryDirectory
              .appendingPathComponent("\(UUID().uuidString).zip")
            try content.write(to: file)
            return file
          }
        })
    }
  }

  func criteria(completion: @escaping (Result<ExposureCriteria, Error>) -> Void) {
    DispatchQueue.main.async { completion(Result { try ServerConnection.readCriteria() }) }
  }
}

// MARK: For the walk

extension FirebreakServers {
  /// Issues a code, as the health authority's staff does.
  @MainActor
  func issueCode(apiToken: String) async throws -> String {
    struct Response: Decodable {
      let result: String
    }
    var request = Self.request(
      EmptyRequest(), to: addresses.verification, VerificationRoute.generateCode)
    request.setValue(apiToken, forHTTPHeaderField: VerificationRoute.apiTokenHeader)
    let data = try await withCheckedThrowingContinuation { done in
      send(request) { done.resume(with: $0) }
    }
    return try JSONDecoder().decode(Response.self, from: data).result
  }

  /// The numbers of all key files.
  @MainActor
  func keyFiles() async throws -> [Int] {
    try await withCheckedThrowingContinuation { done in
      keyFiles(from: 0) { done.resume(with: $0) }
    }
  }

  private struct EmptyRequest: Encodable {
    let data: [String: String] = [:]
  }
}

// MARK: HTTP

extension FirebreakServers {
  private struct TokenRequest: Encodable {
    struct Fields: Encodable {
      let code: String
    }

    let data: Fields
  }

  private struct TokenResponse: Decodable {
    struct Fields: Decodable {
      let accessToken: String
    }

    let result: Fields
  }

  private func get(_ path: String, _ completion: @escaping (Result<Data, Error>) -> Void) {
    send(URLRequest(url: addresses.keys.appendingPathComponent(path)), completion)
  }

  private func post(
    _ body: some Encodable, to server: URL, _ path: String,
    _ completion: @escaping (Result<Data, Error>) -> Void
  ) {
    send(Self.request(body, to: server, path), completion)
  }

  private static func request(_ body: some Encodable, to server: URL, _ path: String) -> URLRequest
  {
    var request = URLRequest(url: server.appendingPathComponent(path))
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try? JSONEncoder().encode(body)
    return request
  }

  private func send(_ request: URLRequest, _ completion: @escaping (Result<Data, Error>) -> Void) {
    session.dataTask(with: request) { data, response, error in
      let status = (response as? HTTPURLResponse)?.statusCode
      let result: Result<Data, Error> =
        switch status {
        case 200: .success(data ?? Data())
        case let status?: .failure(FirebreakServersError.refused(status))
        case nil: .failure(error ?? URLError(.unknown))
        }
      DispatchQueue.main.async { completion(result) }
    }.resume()
  }
}

/// An error of Firebreak's servers.
enum FirebreakServersError: LocalizedError {
  case refused(Int)

  var errorDescription: String? {
    switch self {
    case .refused(400), .refused(404):
      return "The code is not known or has been used; ask for a new one."
    case .refused(let status):
      return "The server has refused the request with status \(status); try again later."
    }
  }
}
