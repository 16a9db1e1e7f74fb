export * from '../../schemas/socket/vocabulary.js';
