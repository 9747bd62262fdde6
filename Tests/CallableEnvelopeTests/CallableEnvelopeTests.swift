// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import Testing

@Suite("The envelope of callable functions")
struct CallableEnvelopeTests {
  struct Code: Codable, Hashable { let code: String }

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test("A request is encoded as data, with padding only if there is any")
  func request() throws {
    let payload = Code(code: "ABC123")
    #expect(try json(CallableRequest(data: payload)) == #"{"data":{"code":"ABC123"}}"#)
    #expect(
      try json(CallableRequest(data: payload, padding: "AAAA"))
        == #"{"data":{"code":"ABC123"},"padding":"AAAA"}"#)
  }

  @Test("A request is decoded with padding, without it, and with unknown fields")
  func readsRequest() throws {
    for text in [
      #"{"data":{"code":"X"}}"#, #"{"padding":"AAAA","data":{"code":"X"}}"#,
      #"{"data":{"code":"X","later":1},"more":[]}"#,
    ] {
      let request = try JSONDecoder().decode(
        CallableRequest<Code>.self, from: Data(text.utf8))
      #expect(request.data == Code(code: "X"))
    }
  }

  @Test(
    "A request without data is rejected", arguments: [#"{}"#, #"{"code":"X"}"#, #"{"data":null}"#])
  func needsData(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(CallableRequest<Code>.self, from: Data(text.utf8))
    }
  }

  @Test("A response is encoded as result and decoded with padding")
  func response() throws {
    #expect(try json(CallableResponse(result: "PIN")) == #"{"result":"PIN"}"#)
    let padded = Data(#"{"result":"PIN","padding":"AAAA"}"#.utf8)
    #expect(try JSONDecoder().decode(CallableResponse<String>.self, from: padded).result == "PIN")
  }

  @Test("An error response has message and status as ProteGO Safe apps expect them")
  func failure() throws {
    let failure = CallableFailure(.notFound, message: "Invalid code")
    #expect(
      try json(failure) == #"{"error":{"message":"Invalid code","status":"NOT_FOUND"}}"#)
    let read = try JSONDecoder().decode(
      CallableFailure.self,
      from: Data(#"{"error":{"message":"x","status":"UNAUTHENTICATED","details":[]}}"#.utf8))
    #expect(read == CallableFailure(.unauthenticated, message: "x"))
  }

  @Test("Every status has its own HTTP status")
  func statuses() {
    let expected: [CallableStatus: (String, Int)] = [
      .invalidArgument: ("INVALID_ARGUMENT", 400), .unauthenticated: ("UNAUTHENTICATED", 401),
      .permissionDenied: ("PERMISSION_DENIED", 403), .notFound: ("NOT_FOUND", 404),
      .resourceExhausted: ("RESOURCE_EXHAUSTED", 429), .internal: ("INTERNAL", 500),
      .unavailable: ("UNAVAILABLE", 503),
    ]
    #expect(Set(expected.keys) == Set(CallableStatus.allCases))
    for (status, (name, code)) in expected {
      #expect(status.rawValue == name)
      #expect(status.httpStatus == code)
    }
  }
}
