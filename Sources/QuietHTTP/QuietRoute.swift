// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import StrictJSON
import TextEncodings
import World

/// A POST route with JSON request and response, for real requests and decoys.
///
/// A decoy has the header `X-Chaff`. It is read, limited and decoded like a real request, and its
/// response has the same headers, length and timing, but it has no effect. A refusal of a request that was
/// read has the length and timing of a success as well. See Documentation/QuietHTTP.md, "Decoys".
public struct QuietRoute<Body: Sendable>: Sendable {
  /// Responds to a real request.
  public typealias Handler = @Sendable (QuietRequest<Body>) async throws -> PaddedResponse
  /// Responds to a decoy. The body is nil if it cannot be decoded, which is not an error in a decoy.
  public typealias DecoyHandler = @Sendable (QuietRequest<Body?>) async throws -> PaddedResponse

  /// Checks the headers of requests and decoys before the body is read. Nil accepts the request.
  public typealias Gate = @Sendable (HTTPFields, QuietContext) async throws -> PaddedResponse?

  /// Decodes a body, or returns nil if it is malformed.
  public typealias Read = @Sendable (Data) -> Body?

  private let limit: BodyLimit
  private let refusals: ErrorBody
  private let randomness: any Randomness
  private let shape: ResponseShape
  private let gate: Gate?
  private let read: Read
  private let respond: Handler
  private let decoy: DecoyHandler
  private let times: ResponseTimes
  private let timeouts = BodyTimeouts()

  /// Creates a route.
  ///
  /// `respond` and `decoy` may throw a `QuietRefusal`. Any other error becomes `.internalError`, and
  /// only its cause is logged. `decoy` should do the same work as `respond` up to its first effect, and
  /// return a response of success. `times` has the grid of the response times.
  public init(
    limit: BodyLimit, refusals: ErrorBody, shape: ResponseShape, randomness: any Randomness,
    times: ResponseTimes? = nil, gate: Gate? = nil, read: @escaping Read,
    decoy: @escaping DecoyHandler, respond: @escaping Handler
  ) {
    self.limit = limit
    self.refusals = refusals
    self.shape = shape
    self.randomness = randomness
    self.gate = gate
    self.read = read
    self.decoy = decoy
    self.respond = respond
    self.times = times ?? ResponseTimes(randomness: randomness)
  }

  func respond(to request: Request, in context: QuietContext) async throws -> Response {
    let response = try await mappingErrors(context) {
      if let rejection = try await gate?(request.headers, context) { return rejection }
      let bytes = try await limit.body(of: request, in: context, timeouts)
      try context.refuseIfOverloaded()
      let isDecoy = request.isDecoy
      try await context.begin()
      defer { context.excludeFromLoad() }
      let start = times.start()
      let response = try await ServerPriority.process {
        try await mappingErrors(context) {
          try await handle(request, body: read(bytes), isDecoy: isDecoy, in: context)
        }
      }
      context.excludeFromLoad()
      try await times.finish(start, as: Self.kind(of: response, isDecoy: isDecoy))
      return response
    }
    return response.response(padding: randomness, shape: shape)
  }

  private func mappingErrors(
    _ context: QuietContext, _ work: () async throws -> PaddedResponse
  ) async throws -> PaddedResponse {
    do {
      return try await work()
    } catch let refusal as QuietRefusal {
      return try PaddedResponse(refusal, form: refusals)
    } catch {
      context.logger.error("route failed", metadata: ["cause": "\(ErrorCause.text(error))"])
      return try PaddedResponse(.internalError, form: refusals)
    }
  }

  /// Rejections are imitations: their short durations are not recorded, and an observer cannot recognize them.
  private static func kind(of response: PaddedResponse, isDecoy: Bool) -> ResponseTimes.Kind {
    // Errors of the server are sent without a delay.
    if response.status.kind == .serverError { return .state }
    return isDecoy || response.status.kind != .successful ? .imitation : .success
  }

  private func handle(
    _ request: Request, body: Body?, isDecoy: Bool, in context: QuietContext
  ) async throws -> PaddedResponse {
    if isDecoy {
      return try await decoy(
        QuietRequest(body: body, headers: request.headers, context: context))
    }
    guard let body else { throw QuietRefusal.malformed }
    return try await respond(QuietRequest(body: body, headers: request.headers, context: context))
  }
}

extension QuietRoute where Body: Decodable {
  /// Creates a route that decodes bodies with `JSONDecoder`.
  ///
  /// If `isStrict`, `StrictJSONValidator` checks them first. A `Body` of type `Strict` also rejects
  /// unknown fields.
  public init(
    limit: BodyLimit, refusals: ErrorBody, randomness: any Randomness, isStrict: Bool = false,
    times: ResponseTimes? = nil, gate: Gate? = nil, decoy: @escaping DecoyHandler,
    respond: @escaping Handler
  ) {
    self.init(
      limit: limit, refusals: refusals, shape: ResponseShape(), randomness: randomness,
      times: times,
      gate: gate,
      read: { bytes in
        guard !isStrict || StrictJSONValidator.accepts(bytes, atMost: .request) else { return nil }
        return JSONDecoder().decodeIfValid(Body.self, from: bytes)
      }, decoy: decoy, respond: respond)
  }
}

extension Request {
  /// True if the client marked the request as a decoy.
  var isDecoy: Bool { headers.contains(.chaff) }
}

/// A request with a decoded body.
public struct QuietRequest<Body: Sendable>: Sendable {
  /// The decoded body.
  public let body: Body
  /// The headers.
  public let headers: HTTPFields
  /// The context, for the budget key and the network of the client.
  public let context: QuietContext
}

/// A body that rejects unknown fields.
public struct Strict<Body: Decodable & NamedFields & Sendable>: Decodable, Sendable {
  /// The decoded body.
  public let body: Body

  /// Checks the field names, then decodes the body.
  public init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: FieldName.self).allKeys.map(\.stringValue)
    if let unknown = names.first(where: { !Body.fieldNames.contains($0) }) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [FieldName(stringValue: unknown)], debugDescription: "unknown field"))
    }
    body = try Body(from: decoder)
  }

  private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// A request with a known set of fields, so that `Strict` can reject others.
public protocol NamedFields {
  /// The names of all fields in JSON.
  static var fieldNames: Set<String> { get }
}
