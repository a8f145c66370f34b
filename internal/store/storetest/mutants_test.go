package storetest

const mutantVariable = "WAYLEAVE_MUTANT"
