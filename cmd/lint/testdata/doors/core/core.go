package core

const Version = 1
