// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import Populations
import TestSupport
import Testing

@Suite("Generated contacts") struct GeneratedContactsTests {
  private static let people = 4_000
  private static let contacts = GeneratedContacts(people: people, seed: 3)

  /// The mean numbers of different partners of a person on a day, by place.
  private func means(onDay day: Int) -> [Place: Double] {
    let encounters = Self.contacts.encounters(onDay: day)
    return Dictionary(grouping: encounters, by: \.place).mapValues { found in
      let pairs = Set(found.map { [$0.first, $0.second] })
      return 2 * Double(pairs.count) / Double(Self.people)
    }
  }

  @Test("The means by place are near those of POLYMOD on a weekday")
  func polymod() throws {
    let means = means(onDay: 1)
    // Contacts of the survey a day: work 2.47, school 2.85, leisure 2.75, transport and others 2.96.
    let expected: [Place: ClosedRange<Double>] = [
      .work: 1.6...3.2, .school: 1.2...3.2, .leisure: 2.4...3.1, .elsewhere: 2.6...3.3,
      // Fewer than the 3.56 of the survey, in which large households and guests count.
      .home: 1.2...3.6,
    ]
    for (place, range) in expected {
      let mean = try #require(means[place])
      #expect(range.contains(mean), "\(place): \(mean)")
    }
  }

  @Test("Nobody goes to school or work at the weekend")
  func weekend() {
    for day in [5, 6, 12] {
      let places = Set(Self.contacts.encounters(onDay: day).map(\.place))
      #expect(!places.contains(.school) && !places.contains(.work) && places.contains(.home))
    }
  }

  @Test(
    "Encounters are within a day and in the order of their starts, and the seed determines them")
  func order() {
    let found = Self.contacts.encounters(onDay: 2)
    #expect(found.allSatisfy { 0 <= $0.start && $0.start < $0.end && $0.end <= 86_400 })
    #expect(found.allSatisfy { $0.first != $0.second && $0.metres > 0 })
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.start <= $1.start })
    #expect(GeneratedContacts(people: Self.people, seed: 3).encounters(onDay: 2) == found)
    #expect(GeneratedContacts(people: Self.people, seed: 4).encounters(onDay: 2) != found)
  }

  @Test("People of a smaller share of users are among those of a larger one")
  func owners() {
    let population = Self.contacts.population
    let few = population.owners(share: 0.2, seed: 1)
    let many = population.owners(share: 0.7, seed: 1)
    #expect(few.count == 800 && many.count == 2_800)
    #expect(Set(few).isSubset(of: many))
    #expect(population.owners(share: 1, seed: 1) == Array(0..<Self.people))
  }

  @Test("Households have the sizes of the survey")
  func households() {
    let households = Self.contacts.population.households
    #expect(households.flatMap(\.self) == Array(0..<Self.people))
    let singles = Double(households.count { $0.count == 1 }) / Double(households.count)
    #expect((0.24...0.30).contains(singles))
  }
}

@Suite("Recorded contacts") struct RecordedContactsTests {
  private func recording(_ text: String) throws(RecordedContactsError) -> RecordedContacts {
    try RecordedContacts(content: Data(text.utf8), step: 20, metres: 1)
  }

  @Test("Successive steps of a pair are one encounter, and a gap begins another")
  func steps() throws {
    let contacts = try recording(
      """
      time,person,person,distance
      40,ada,ben,1.5
      60,ben,ada,1.5
      60,ada,cleo,2
      100,ada,ben,1.5
      """)
    #expect(contacts.population.names == ["ada", "ben", "cleo"])
    let found = contacts.encounters(onDay: 0)
    #expect(
      found == [
        Encounter(0, 1, from: 20, to: 60, metres: 1.5, at: .recorded),
        Encounter(0, 2, from: 40, to: 60, metres: 2, at: .recorded),
        Encounter(0, 1, from: 80, to: 100, metres: 1.5, at: .recorded),
      ])
  }

  @Test("Lines of SocioPatterns are read, and the recording is repeated")
  func days() throws {
    let contacts = try recording("28820\t492\t938\r\n86420 492 938\n")
    #expect(contacts.dayCount == 2)
    #expect(
      contacts.encounters(onDay: 1)
        == [Encounter(0, 1, from: 0, to: 20, metres: 1, at: .recorded)])
    #expect(contacts.encounters(onDay: 2) == contacts.encounters(onDay: 0))
  }

  @Test(
    "The conference of SocioPatterns has its published numbers of people and days",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func conference() throws {
    let url = SharedData.url("contacts/sociopatterns/SFHH_tij.dat.gz")
    let file = try #require(gzopen(url.path, "r"))
    defer { gzclose(file) }
    var content = [UInt8](repeating: 0, count: 2 << 20)
    let count = gzread(file, &content, UInt32(content.count))
    let contacts = try recording(
      String(decoding: content.prefix(Int(count)), as: UTF8.self))
    #expect(contacts.population.count == 403 && contacts.dayCount == 2)
    let partners = (0..<2).map { day in
      Set(contacts.encounters(onDay: day).map { [$0.first, $0.second] }).count * 2
    }
    // 27.2 different partners a person and day, of those who have any.
    #expect(partners.allSatisfy { (20.0...30).contains(Double($0) / 403) }, "\(partners)")
  }

  @Test("A byte order mark, line ends of Windows, blank lines and names with spaces are read")
  func spreadsheets() throws {
    let contacts = try recording(
      "\u{FEFF}time,person,person,distance\r\n20,Ada Lovelace, Ben ,1.5\r\n\r\n40,Ben,Ada Lovelace,1.5\r\n"
    )
    #expect(contacts.population.names == ["Ada Lovelace", "Ben"])
    #expect(try recording("20 a b 1\n\n40\tb a 1\n").population.names == ["a", "b"])
  }

  @Test("Quotation marks around fields are not part of names, and may contain commas")
  func quotationMarks() throws {
    let text = """
      "time","person","person","distance"
      20,"Lovelace, Ada",ben,"1.5"
      "40",ben, "Lovelace, Ada",1.5
      60,"the ""one""\",a"b,1
      """
    #expect(
      try recording(text).population.names == ["Lovelace, Ada", "ben", "the \"one\"", "a\"b"])
    #expect(try recording("20 \"a\" \"b\"\n").population.names == ["a", "b"])
    #expect(try recording("20 \"Ada 7\" 12").population.names == ["Ada 7", "12"])
    #expect(
      try recording("20\t\"Lovelace, Ada\"\tben").population.names == ["Lovelace, Ada", "ben"])
    // A combining mark belongs to the character before it, here the quotation mark.
    #expect(try recording("20,\"\u{301}a\",b").population.names == ["\u{301}a", "b"])
  }

  @Test("Bytes that are not UTF-8 are refused, because they would make different names equal")
  func encoding() throws {
    // "Jürgen" and "Jörgen" in ISO 8859-1.
    let latin =
      Data("20,a,b\n40,J".utf8) + [0xFC] + Data("rgen,J".utf8) + [0xF6] + Data("rgen\n".utf8)
    #expect(throws: RecordedContactsError.encoding(line: 2)) {
      try RecordedContacts(content: latin, step: 20, metres: 1)
    }
    #expect(try recording("20,Jürgen,Jörgen\n").population.names == ["Jürgen", "Jörgen"])
  }

  @Test(
    "A compressed recording is refused with what to do",
    arguments: [[0x1F, 0x8B, 8, 0], [0x50, 0x4B, 3, 4, 20]] as [[UInt8]])
  func compressed(start: [UInt8]) {
    #expect(throws: RecordedContactsError.compressed) {
      try RecordedContacts(content: Data(start), step: 20, metres: 1)
    }
    #expect(RecordedContactsError.compressed.description.contains("gunzip"))
  }

  @Test(
    "An error names the line",
    arguments: [
      ("", RecordedContactsError.empty), ("20,a,b\n40,a\n", .fields(line: 2, 2)),
      ("x,a,b", .time(line: 1)), ("0,a,b", .time(line: 1)), ("20,a,a", .samePerson(line: 1)),
      ("20,a,b,-1", .distance(line: 1)), ("20,a,b,101", .distance(line: 1)),
      ("20,a,b,x", .distance(line: 1)), ("20,a,,1.5", .fields(line: 1, 3)),
      (",20,a,b", .fields(line: 1, 3)), ("20,a,b,", .fields(line: 1, 3)),
    ])
  func errors(text: String, error: RecordedContactsError) {
    #expect(throws: error) { try recording(text) }
  }
}
