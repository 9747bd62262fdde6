/// One route as the description of a server has it.
public struct OpenAPIOperation: Sendable {
  /// How it is asked.
  public enum Method: String, Sendable {
    /// A page.
    case get
    /// A question with a body.
    case post
  }

  /// What it may answer under one status.
  public struct Answer: Sendable {
    let status: Int
    let description: String
    /// The bodies by content type; none where there is no body.
    let content: [String: JSONSchema]

    /// `description` says what the status means here, `schema` what the JSON body looks like.
    public init(_ status: Int, _ description: String, _ schema: JSONSchema) {
      self.init(status, description, content: ["application/json": schema])
    }

    /// `description` says what the status means here, `content` what the body looks like by its content
    /// type; nothing where there is no body.
    public init(_ status: Int, _ description: String, content: [String: JSONSchema]) {
      self.status = status
      self.description = description
      self.content = content
    }
  }

  /// How it is asked.
  public let method: Method
  /// Where it is asked.
  public let path: String
  let summary: String
  let credentialHeader: String?
  let request: JSONSchema?
  let answers: [Answer]

  /// The route of `path`, which wants the credential in `credentialHeader` where there is one.
  public init(
    _ method: Method, _ path: String, _ summary: String, credentialHeader: String? = nil,
    request: JSONSchema? = nil, answers: [Answer]
  ) {
    self.method = method
    self.path = path
    self.summary = summary
    self.credentialHeader = credentialHeader
    self.request = request
    self.answers = answers
  }

  var value: JSONValue {
    var fields: [String: JSONValue] = [
      "summary": .string(summary), "operationId": .string(operationID),
      "responses": .object(
        Dictionary(answers.map { ("\($0.status)", Self.value(of: $0)) }) { first, _ in first }),
    ]
    if !parameters.isEmpty { fields["parameters"] = .array(parameters) }
    if let request {
      fields["requestBody"] = .object([
        "required": .boolean(true), "content": Self.json(request),
      ])
    }
    if let credentialHeader {
      fields["security"] = .array([.object([credentialHeader: .array([])])])
    }
    return .object(fields)
  }

  private var operationID: String {
    let words = path.split { !$0.isLetter && !$0.isNumber }
    return method.rawValue + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The parts of the path that stand in braces; each is a text.
  private var parameters: [JSONValue] {
    path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
      .object([
        "name": .string(String(part.dropFirst().dropLast())), "in": "path",
        "required": .boolean(true), "schema": .object(["type": "string"]),
      ])
    }
  }

  private static func value(of answer: Answer) -> JSONValue {
    var fields: [String: JSONValue] = ["description": .string(answer.description)]
    if !answer.content.isEmpty {
      fields["content"] = .object(answer.content.mapValues { .object(["schema": $0.value]) })
    }
    return .object(fields)
  }

  private static func json(_ schema: JSONSchema) -> JSONValue {
    .object(["application/json": .object(["schema": schema.value])])
  }
}
