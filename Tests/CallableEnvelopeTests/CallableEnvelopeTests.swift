import CallableEnvelope
import Foundation
import Testing

@Suite("The form of callable functions")
struct CallableEnvelopeTests {
  struct Question: Codable, Hashable { let code: String }

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test("A request lies under data, with padding beside it only where there is any")
  func request() throws {
    let question = Question(code: "ABC123")
    #expect(try json(CallableRequest(data: question)) == #"{"data":{"code":"ABC123"}}"#)
    #expect(
      try json(CallableRequest(data: question, padding: "AAAA"))
        == #"{"data":{"code":"ABC123"},"padding":"AAAA"}"#)
  }

  @Test("A request is read with padding, without it, and with fields of a later version")
  func readsRequest() throws {
    for text in [
      #"{"data":{"code":"X"}}"#, #"{"padding":"AAAA","data":{"code":"X"}}"#,
      #"{"data":{"code":"X","later":1},"more":[]}"#,
    ] {
      let request = try JSONDecoder().decode(
        CallableRequest<Question>.self, from: Data(text.utf8))
      #expect(request.data == Question(code: "X"))
    }
  }

  @Test("A request without data is none", arguments: [#"{}"#, #"{"code":"X"}"#, #"{"data":null}"#])
  func needsData(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(CallableRequest<Question>.self, from: Data(text.utf8))
    }
  }

  @Test("An answer lies under result and is read beside its padding")
  func answer() throws {
    #expect(try json(CallableAnswer(result: "PIN")) == #"{"result":"PIN"}"#)
    let padded = Data(#"{"result":"PIN","padding":"AAAA"}"#.utf8)
    #expect(try JSONDecoder().decode(CallableAnswer<String>.self, from: padded).result == "PIN")
  }

  @Test("A refusal names message and status as the seed's clients expect them")
  func failure() throws {
    let failure = CallableFailure(.notFound, message: "Invalid code")
    #expect(
      try json(failure) == #"{"error":{"message":"Invalid code","status":"NOT_FOUND"}}"#)
    let read = try JSONDecoder().decode(
      CallableFailure.self,
      from: Data(#"{"error":{"message":"x","status":"UNAUTHENTICATED","details":[]}}"#.utf8))
    #expect(read == CallableFailure(.unauthenticated, message: "x"))
  }

  @Test("Every status travels with the HTTP status of its own")
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
