import AsyncHTTPClient
import Foundation
import KeyServerAPI
import NIOCore
import NIOHTTP1
import QuietHTTP

/// The client of the key server's statistics: the counts of an authority's uploads by day.
package struct StatisticsClient: Sendable {
  private let server: URL
  private let responseSeconds: Int64

  /// - Parameter responseSeconds: The timeout of a response; nil for `ConsoleLimit.responseSecondsMax`.
  package init(server url: URL, responseSeconds: Int64? = nil) {
    server = url
    self.responseSeconds = responseSeconds ?? ConsoleLimit.responseSecondsMax
  }

  /// The days that the server shows: those with enough uploads, long enough ago, with rounded counts.
  ///
  /// - Parameter token: A token that an authority has signed.
  package func days(token: String) async throws(AuthorityFailure) -> [StatisticsDay] {
    do {
      let address = server.appendingPathComponent(KeyServerRoute.statistics).absoluteString
      var request = HTTPClientRequest(url: address)
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      request.headers.add(name: "authorization", value: "Bearer \(token)")
      request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(StatisticsRequest())))
      let response = try await HTTPClient.withoutRedirects.execute(
        request, timeout: .seconds(responseSeconds))
      let body = try await response.body.collect(upTo: ConsoleLimit.responseBytesMax)
      guard response.status == .ok else { throw AuthorityFailure.unavailable }
      let answer = try JSONDecoder().decode(
        StatisticsResponse.self, from: Data(body.readableBytesView))
      return answer.days ?? []
    } catch {
      throw .unavailable
    }
  }
}
