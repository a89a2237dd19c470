package node

var x undefined
