// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import QuietHTTP
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// SMS: templates, links, signatures and the senders.
@Suite struct SMSTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The SMS contains the long code in a link, and both forms are one code")
  func link() async throws {
    let sender = CollectedSMS()
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.sms = SMSConfiguration(
          sender: sender, region: "US-WA",
          template: "[region] [code] [expires] [longcode] [longexpires] [enslink]")
      }
    ) { server async throws in
      let issued = try await server.issue(
        #"{"testType":"confirmed","phone":"+1 (206) 555-0123"}"#)
      #expect(issued.longExpiresAtTimestamp == 1_800_086_400)
      let message = try #require(await sender.messages.first)
      #expect(message.phone.text == "+12065550123")
      let words = message.text.split(separator: " ").map(String.init)
      #expect(words.count == 6)
      #expect(Array(words[0...2]) == ["US-WA", issued.code, "15"])
      #expect(LongCode(words[3])?.characters.utf8.count == 16)
      #expect(words[4] == "24" && words[5] == "ens://v?r=US-WA&c=\(words[3])")
      server.clock.advance(by: 86_400)
      #expect(try await server.verify(issued.code).refusal == "400 code_expired")
      #expect(try await server.verify(words[3]).status == 200)
      #expect(try await server.verify(issued.code).refusal == "400 code_invalid")
    }
  }

  @Test("With a link domain the link is an https link")
  func domainLink() throws {
    var configuration = SMSConfiguration(
      sender: CollectedSMS(), region: "PL", template: "[enslink]")
    configuration.linkDomain = "en.example"
    let code = try newCode(long: "abcdefghij123456")
    #expect(
      try text(configuration, code) == "https://pl.en.example/v?c=abcdefghij123456")
  }

  @Test("The signature covers number, day, text and purpose")
  func signed() throws {
    let key = P256.Signing.PrivateKey()
    var configuration = SMSConfiguration(sender: CollectedSMS(), region: "PL", template: "[code]")
    configuration.signer = try SMSSigner(keyID: "v1", privateKeyPEM: key.pemRepresentation)
    let code = try newCode(long: nil)
    let text = try text(configuration, code)
    let parts = text.components(separatedBy: " \nAuthentication:")
    try #require(parts.count == 2)
    #expect(parts[0] == "12345678")
    let fields = parts[1].split(separator: ":").map(String.init)
    try #require(fields.count == 3)
    #expect(fields[0] == "0115" && fields[1] == "v1" && !fields[2].contains("="))
    let padding = String(repeating: "=", count: (4 - fields[2].count % 4) % 4)
    let der = try #require(Data(base64Encoded: fields[2] + padding))
    let signature = try P256.Signing.ECDSASignature(derRepresentation: der)
    func holds(_ signed: String) -> Bool {
      key.publicKey.isValidSignature(signature, for: Data(signed.utf8))
    }
    let body = "12345678 \nAuthentication:"
    #expect(holds("EN Report.+48123456789.2027-01-15.\(body)"))
    #expect(!holds("User Report.+48123456789.2027-01-15.\(body)"))
    #expect(!holds("EN Report.+48123456788.2027-01-15.\(body)"))
    #expect(!holds("EN Report.+48123456789.2027-01-16.\(body)"))
  }

  @Test("An SMS may have 918 characters after the variables are replaced, and not more")
  func length() throws {
    for (length, isGood) in [(917, true), (918, true), (919, false)] {
      let template = "[code]" + String(repeating: "a", count: length - 8)
      var configuration = SMSConfiguration(sender: CollectedSMS(), region: "PL")
      configuration.templates[configuration.defaultTemplate] = template
      let written = try? text(configuration, try newCode(long: nil))
      #expect((written != nil) == isGood)
    }
    for (length, isGood) in [(799, true), (800, true), (801, false)] {
      let template = "[code]" + String(repeating: "a", count: length - 6)
      let configuration = SMSConfiguration(
        sender: CollectedSMS(), region: "PL", template: template)
      #expect(((try? configuration.validate()) != nil) == isGood)
    }
    let mute = SMSConfiguration(sender: CollectedSMS(), region: "PL", template: "You are ill.")
    #expect(throws: VerificationServerError.self) { try mute.validate() }
  }

  @Test(
    "If the SMS cannot be sent the code is withdrawn, and the response has the reason",
    arguments: [
      (SMSFailure.queueFull, "400 sms_queue_full"), (.badNumber, "400 phone_number_invalid"),
      (.failed, "400 sms_failure"),
    ])
  func failures(failure: SMSFailure, refusal: String) async throws {
    let sender = CollectedSMS(failure: failure)
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(issuesPerApiKey: 1),
      configure: { $0.sms = SMSConfiguration(sender: sender, region: "PL") }
    ) { server async throws in
      let uuid = "0b1c2d3e-0000-4000-8000-000000000001"
      let body = #"{"testType":"confirmed","phone":"+48123456789","uuid":"\#(uuid)"}"#
      #expect(try await server.admin(VerificationRoute.issue, body).refusal == refusal)
      let gone = try await server.admin(
        VerificationRoute.checkCodeStatus, #"{"uuid":"\#(uuid)"}"#)
      #expect(gone.refusal == "404 code_not_found")
      // Neither the uuid nor the quota is used up.
      await sender.fail(with: nil)
      #expect(try await server.issue(body).uuid == uuid)
    }
  }

  @Test(
    "A failing gateway is one line in the log with its answer and no number; a bad number is none")
  func logged() async throws {
    let answer = SMSFailure(.failed, answer: "status 401, code 20003")
    let sender = CollectedSMS(failure: .badNumber)
    try await RunningServer.run(
      in: folder.url, configure: { $0.sms = SMSConfiguration(sender: sender, region: "PL") }
    ) { server async throws in
      func issue() async throws {
        _ = try await server.admin(
          VerificationRoute.issue, #"{"testType":"confirmed","phone":"+48123456789"}"#)
      }
      try await issue()
      #expect(server.log.errors.isEmpty)
      await sender.fail(with: answer)
      for _ in 0..<3 { try await issue() }
      let lines = server.log.errors.filter { $0.contains("SMS gateway") }
      #expect(lines.count == 1 && lines[0].contains("status 401, code 20003"), "\(lines)")
      #expect(!server.log.lines.contains { $0.contains("123456789") })
      await sender.fail(with: nil)
      try await issue()
      await sender.fail(with: answer)
      try await issue()
      #expect(server.log.errors.count { $0.contains("SMS gateway") } == 2)
    }
  }

  @Test("With onlyGenerateSMS the server returns the SMS and does not send it")
  func generated() async throws {
    let sender = CollectedSMS()
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.allowsGeneratedSMS = true
        $0.sms = SMSConfiguration(sender: sender, region: "PL", template: "[code]")
        $0.sms?.templates["Other"] = "Other [code]"
      }
    ) { server async throws in
      let body =
        #"{"testType":"confirmed","phone":"+48123456789","onlyGenerateSMS":true,"smsTemplateLabel":"#
      let issued = try await server.issue(body + #""Other"}"#)
      #expect(issued.generatedSMS == "Other \(issued.code)")
      #expect(issued.phone == "+48123456789")
      #expect(await sender.messages.isEmpty)
      let unknown = try await server.admin(VerificationRoute.issue, body + #""None"}"#)
      #expect(unknown.refusal == "400 unparsable_request")
    }
  }

  @Test("A phone number is a plus sign and eight to fifteen digits")
  func phones() {
    for (text, isGood) in [
      ("+1234567", false), ("+12345678", true), ("+123456789012345", true),
      ("+1234567890123456", false), ("48123456789", false), ("+0123456789", false),
      ("+48 123-456.789", true), ("+4812345678a", false), ("", false), ("+", false),
    ] {
      #expect((PhoneNumber(text) != nil) == isGood, "\(text)")
    }
  }

  @Test("The file sender appends one line for each SMS, readable only by the owner")
  func file() async throws {
    let file = folder.path("sms.jsonl")
    let sender = SMSFile(file: file)
    let phone = try #require(PhoneNumber("+48123456789"))
    try await sender.send(SMSMessage(phone: phone, text: "one \"quoted\"\nline"))
    try await sender.send(SMSMessage(phone: phone, text: "two"))
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let first = try JSONDecoder().decode([String: String].self, from: Data(lines[0].utf8))
    #expect(first == ["phone": "+48123456789", "text": "one \"quoted\"\nline"])
    #expect(lines.count == 2)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let nowhere = SMSFile(file: folder.path("no/folder/sms.jsonl"))
    await #expect(throws: SMSFailure.failed) {
      try await nowhere.send(SMSMessage(phone: phone, text: "three"))
    }
  }

  @Test(
    "The spool sender writes each SMS to a complete file of its own, readable only by the owner")
  func spool() async throws {
    let sender = SMSSpool(folder: folder.url)
    let phone = try #require(PhoneNumber("+48123456789"))
    for text in ["one", "two"] {
      try await sender.send(SMSMessage(phone: phone, text: text))
    }
    let files = folder.files()
    #expect(files.count == 2)
    var texts: Set<String> = []
    for file in files {
      let message = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
      #expect(message["phone"] == "+48123456789" && !file.lastPathComponent.hasPrefix("."))
      texts.insert(message["text"] ?? "")
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    #expect(texts == ["one", "two"])
    let nowhere = SMSSpool(folder: folder.path("no"))
    await #expect(throws: SMSFailure.failed) {
      try await nowhere.send(SMSMessage(phone: phone, text: "three"))
    }
  }

  @Test("With 10,000 files in the spool folder the sender reports a full queue")
  func spoolIsFull() async throws {
    let sender = SMSSpool(folder: folder.url)
    let phone = try #require(PhoneNumber("+48123456789"))
    for number in 0..<(VerificationLimit.smsSpooledMax - 1) {
      #expect(FileManager.default.createFile(atPath: folder.path("\(number)").path, contents: nil))
    }
    try await sender.send(SMSMessage(phone: phone, text: "the last"))
    await #expect(throws: SMSFailure.queueFull) {
      try await sender.send(SMSMessage(phone: phone, text: "one more"))
    }
  }

  @Test("Invalid regions, domains and labels are rejected")
  func names() throws {
    func isGood(_ change: (inout SMSConfiguration) -> Void) -> Bool {
      var configuration = SMSConfiguration(sender: CollectedSMS(), region: "PL")
      change(&configuration)
      return (try? configuration.validate()) != nil
    }
    let regions: [(String, Bool)] = [
      ("PL", true), ("US-WA", true), ("FR-75C", true), ("pl", false), ("P", false), ("PL-", false),
      ("PL&c=", false), ("US-WASH", false), ("", false),
    ]
    for (region, good) in regions { #expect(isGood { $0.region = region } == good, "\(region)") }
    let long = String(repeating: "a", count: 63)
    let domains: [(String, Bool)] = [
      ("en.example", true), ("EN.example.org", true), ("en", false), ("en.", false),
      ("a..b", false),
      ("en.example/x", false), ("-a.b", false), (long + ".b", true), (long + "a.b", false),
      (Array(repeating: long, count: 3).joined(separator: ".") + ".aaaaaaa", true),
      (Array(repeating: long, count: 3).joined(separator: ".") + ".aaaaaaaa", true),
      (Array(repeating: long, count: 3).joined(separator: ".") + ".aaaaaaaaa", false),
    ]
    for (domain, good) in domains {
      #expect(isGood { $0.linkDomain = domain } == good, "\(domain)")
    }
    for (length, good) in [(0, false), (1, true), (99, true), (100, true), (101, false)] {
      let label = String(repeating: "a", count: length)
      #expect(isGood { $0.templates[label] = "[code]" } == good)
    }
    for (count, good) in [(49, true), (50, true), (51, false)] {
      let isTaken = isGood { configuration in
        for number in 1..<count { configuration.templates["\(number)"] = "[code]" }
      }
      #expect(isTaken == good)
    }
  }

  /// A gateway that passes each request to `record`.
  private static func twilio(
    _ record: @escaping @Sendable (String) -> Void
  ) -> Router<QuietContext> {
    let router = Router(context: QuietContext.self)
    router.post("/2010-04-01/Accounts/:account/Messages.json") { request, context in
      let body = try await request.body.collect(upTo: 1 << 16)
      let line = "\(request.headers[.authorization] ?? "") \(String(buffer: body))"
      record(line)
      let (status, text) = twilioResponse(to: line)
      return Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
    return router
  }

  @Test("The gateway gets a request as Twilio documents it, and its errors are distinguished")
  func gateway() async throws {
    let requests = Mutex<[String]>([])
    let router = Self.twilio { line in requests.withLock { $0.append(line) } }
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let run = Task { try await server.run() }
    let base = try #require(URL(string: "http://127.0.0.1:\(await server.boundPort)/"))
    var patientGateway = SMSGateway(
      baseURL: base, account: "AC1", token: "secret", from: "+48500")
    patientGateway.timeoutSeconds = Int64(Patience.seconds)
    let gateway = patientGateway
    let phone = try #require(PhoneNumber("+48123456789"))
    func send(_ text: String) async -> SMSFailure? {
      do throws(SMSFailure) {
        try await gateway.send(SMSMessage(phone: phone, text: text))
        return nil
      } catch {
        return error
      }
    }
    #expect(await send("ens://v?r=PL&c=a b") == nil)
    #expect(
      requests.withLock { $0 } == [
        "Basic \(Data("AC1:secret".utf8).base64EncodedString())"
          + " To=%2B48123456789&From=%2B48500&Body=ens%3A%2F%2Fv%3Fr%3DPL%26c%3Da%20b"
      ])
    #expect(await send("full") == .queueFull)
    #expect(await send("busy") == .queueFull)
    for code in [14_107, 20_429, 21_611, 30_001, 30_022, 63_018] {
      for status in [400, 429, 500, 503] {
        #expect(await send("\(status) \(code)") == .queueFull, "\(status) \(code)")
      }
    }
    #expect(await send("429 21614") == .badNumber)
    let answer = await send("400 99999")
    #expect(answer?.answer == "status 400, code 99999")
    #expect(await send("landline") == .badNumber)
    #expect(await send("broken") == .failed)
    run.cancel()
    _ = await run.result
    // A client tries to connect until its timeout.
    let impatient = SMSGateway(baseURL: base, account: "AC1", token: "secret", from: "+48500")
    await #expect(throws: SMSFailure.failed) {
      try await impatient.send(SMSMessage(phone: phone, text: "unreachable"))
    }
    #expect("\(gateway)" == "SMSGateway")
  }

  /// Redirects must not send the message and the token to another host.
  @Test("A redirect of the gateway is a failure and is not followed")
  func gatewayMoved() async throws {
    let requests = Mutex<[String]>([])
    let router = Router(context: QuietContext.self)
    router.post("/**") { request, _ in
      requests.withLock { $0.append(request.uri.path) }
      let isMoved = request.uri.path != "/elsewhere"
      return Response(
        status: isMoved ? .temporaryRedirect : .created,
        headers: isMoved ? [.location: "/elsewhere"] : [:])
    }
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let run = Task { try await server.run() }
    let base = try #require(URL(string: "http://127.0.0.1:\(await server.boundPort)"))
    var gateway = SMSGateway(baseURL: base, account: "AC1", token: "secret", from: "+48500")
    gateway.timeoutSeconds = Int64(Patience.seconds)
    let phone = try #require(PhoneNumber("+48123456789"))
    await #expect(throws: SMSFailure.failed) {
      try await gateway.send(SMSMessage(phone: phone, text: "a"))
    }
    #expect(requests.withLock { $0 } == ["/2010-04-01/Accounts/AC1/Messages.json"])
    run.cancel()
    _ = await run.result
  }

  private static func twilioResponse(to line: String) -> (HTTPResponse.Status, String) {
    if let match = line.firstMatch(of: #/Body=(\d{3})%20(\d+)$/#), let code = Int(match.1) {
      return (.init(code: code), #"{"message":"To +48123456789","code":\#(match.2)}"#)
    }
    if line.hasSuffix("full") { return (.badRequest, #"{"code":30001}"#) }
    if line.hasSuffix("busy") { return (.tooManyRequests, "") }
    if line.hasSuffix("landline") { return (.badRequest, #"{"code":21614,"message":"no"}"#) }
    if line.hasSuffix("broken") { return (.internalServerError, "<html>") }
    return (.created, #"{"sid":"SM1"}"#)
  }

  private func newCode(long: String?) throws -> NewCode {
    let bench = try VerificationBench()
    let short = try #require(ShortCode("12345678"))
    let issued = HashedCode(
      hash: bench.keys.hash(of: short), testResult: VerificationBench.confirmed,
      expiresAt: VerificationBench.start + 900)
    return NewCode(
      handle: UUID(), typed: short, long: long.flatMap { LongCode($0) }, issued: issued)
  }

  private func text(_ configuration: SMSConfiguration, _ code: NewCode) throws -> String {
    let phone = try #require(PhoneNumber("+48123456789"))
    return try SMSText(configuration: configuration).text(
      of: code, label: nil, phone: phone, purpose: .report, now: VerificationBench.start)
  }
}
