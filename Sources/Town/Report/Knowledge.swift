/// What one party knows when the story is over, and what it cannot know.
struct Knowledge {
  let party: String
  let knows: String
  let cannotKnow: String

  static let afterTheStory = [
    Knowledge(
      party: "Near's phone",
      knows: "That its owner was close to somebody later diagnosed, on which day, for how long.",
      cannotKnow: "Who it was, or where."),
    Knowledge(
      party: "Far's phone", knows: "That none of the published keys was ever near.",
      cannotKnow: "Whether anybody it knows is ill."),
    Knowledge(
      party: "Diagnosed's phone", knows: "That its keys were accepted.",
      cannotKnow: "Whether anybody was told."),
    Knowledge(
      party: "Verification server", knows: "That a code was given out and used once.",
      cannotKnow: "A key, a name, a phone."),
    Knowledge(
      party: "Key server", knows: "Keys that somebody with a valid token published.",
      cannotKnow: "The code, the person, or who was near."),
    Knowledge(
      party: "Whoever downloads a key file",
      knows: "That between one and all of its keys are real; the rest is padding.",
      cannotKnow: "Which, or how many people uploaded."),
  ]
}
