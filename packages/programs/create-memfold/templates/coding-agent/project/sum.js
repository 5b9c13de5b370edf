export const sum = (one, other) => one + other
