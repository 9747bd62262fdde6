// SPDX-License-Identifier: Apache-2.0

/// A numeric field of a scenario, its limits and its place.
struct ScenarioField<Root> {
  let name: String
  let range: ClosedRange<Double>
  let keyPath: WritableKeyPath<Root, Double>

  init(_ name: String, _ range: ClosedRange<Double>, _ keyPath: WritableKeyPath<Root, Double>) {
    self.name = name
    self.range = range
    self.keyPath = keyPath
  }
}

/// The fields of `disease`.
enum DiseaseFields {
  static var all: [ScenarioField<Disease>] {
    [
      ScenarioField("reproductionNumber", 0...20, \.reproductionNumber),
      ScenarioField("incubationDays", 0.5...30, \.incubationDays),
      ScenarioField("incubationDeviation", 0.1...30, \.incubationDeviation),
      ScenarioField("generationDays", 1...14, \.generationDays),
      ScenarioField("generationDeviation", 0.5...14, \.generationDeviation),
      ScenarioField("symptomaticShare", 0...1, \.symptomaticShare),
      ScenarioField("asymptomaticFactor", 0.01...1, \.asymptomaticFactor),
      ScenarioField("infectiousnessDeviation", 0...5, \.infectiousnessDeviation),
    ]
  }
}

/// The fields of `behaviour`.
enum BehaviourFields {
  static var all: [ScenarioField<Behaviour>] {
    [
      ScenarioField("testsAfterSymptoms", 0...1, \.testsAfterSymptoms),
      ScenarioField("testsAfterNotice", 0...1, \.testsAfterNotice),
      ScenarioField("testDays", 0...14, \.testDays),
      ScenarioField("sensitivity", 0...1, \.sensitivity),
      ScenarioField("specificity", 0...1, \.specificity),
      ScenarioField("otherSymptoms", 0...1, \.otherSymptoms),
      ScenarioField("isolatesAfterSymptoms", 0...1, \.isolatesAfterSymptoms),
      ScenarioField("isolatesAfterPositive", 0...1, \.isolatesAfterPositive),
      ScenarioField("isolatesAfterNotice", 0...1, \.isolatesAfterNotice),
      ScenarioField("isolationDays", 0...60, \.isolationDays),
      ScenarioField("uploads", 0...1, \.uploads),
    ]
  }
}

/// The fields of `radio`.
enum RadioFields {
  static var all: [ScenarioField<PathLoss>] {
    [
      ScenarioField("oneMetreDecibels", 0...120, \.oneMetreDecibels),
      ScenarioField("decadeDecibels", 0...60, \.decadeDecibels),
      ScenarioField("pairDecibels", 0...30, \.pairDecibels),
      ScenarioField("readingDecibels", 0...30, \.readingDecibels),
      ScenarioField("floorDecibels", -127...0, \.floorDecibels),
    ]
  }
}

/// The fields of `closeContact`.
enum CloseContactFields {
  static var all: [ScenarioField<Scenario.CloseContact>] {
    [
      ScenarioField("metres", 0.1...10, \.metres),
      ScenarioField("minutes", 1...1_440, \.minutes),
    ]
  }
}
