import Simulation
import Testing

@Suite struct SeededRandomnessTests {
  @Test("The same seed and name tell the same story, however it is drawn")
  func repeats() {
    let whole = SeededRandomness(seed: 7, name: "ala").bytes(100)
    let source = SeededRandomness(seed: 7, name: "ala")
    #expect(source.bytes(1) + source.bytes(32) + source.bytes(67) == whole)
  }

  @Test("Another name or another seed tells another story")
  func differs() {
    let whole = SeededRandomness(seed: 7, name: "ala").bytes(32)
    #expect(SeededRandomness(seed: 7, name: "olek").bytes(32) != whole)
    #expect(SeededRandomness(seed: 8, name: "ala").bytes(32) != whole)
  }
}
