export { ensureRedisServer } from './ensure-server.ts'
export { findRedisServer } from './find-server.ts'
export { startRedisServer, type RedisServer, type RedisServerOptions } from './start-server.ts'
